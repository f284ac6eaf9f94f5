// Collectives over neighborhoods: each rank with the ranks of its own lists.
#include <algorithm>
#include <vector>

#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

// How often the entry's rank stands before it in the list: tells apart the messages of one pair.
std::uint32_t occurrence(const std::vector<std::uint32_t>& ranks, std::size_t entry) {
  const auto at = ranks.begin() + static_cast<std::ptrdiff_t>(entry);
  return static_cast<std::uint32_t>(std::count(ranks.begin(), at, *at));
}

// One block for all (no counts) or one for each entry of the list. What a rank sends to itself is copied.
bool exchange(const CollectiveCall& call, const std::vector<std::uint64_t>& send_counts, std::uint32_t index,
              Group& out) {
  if (index > 0) return false;
  const Collective& collective = *call.collective;
  const auto bytes = [&](const std::vector<std::uint64_t>& counts, std::size_t entry) {
    return counts.empty() ? collective.bytes : counts[entry];
  };
  for (std::size_t i = 0; i < collective.sources.size(); ++i) {
    if (collective.sources[i] == call.me) continue;
    out.recv(collective.sources[i], occurrence(collective.sources, i),
             {0, bytes(collective.receive_counts, i)});
  }
  for (std::size_t i = 0; i < collective.destinations.size(); ++i) {
    if (collective.destinations[i] == call.me) continue;
    out.send(collective.destinations[i], occurrence(collective.destinations, i), {0, bytes(send_counts, i)});
  }
  return true;
}

}  // namespace

bool neighbor_allgather_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return exchange(call, {}, index, out);
}

bool neighbor_alltoall_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return exchange(call, call.collective->counts, index, out);
}

}  // namespace weft::goal
