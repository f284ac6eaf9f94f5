// Alltoall with a limit to how many messages of a rank are under way.
#include <algorithm>

#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

// Peers 1 … p - 1 places on, `parallel` of them at a time.
std::uint32_t window(const CollectiveCall& call) {
  const std::uint32_t parallel = call.options->parallel, peers = call.size - 1;
  return parallel == 0 ? peers : std::min(parallel, peers);
}

// What goes to the ranks first … first + count - 1 places on, and comes from those as many places before.
void exchange(const CollectiveCall& call, std::uint32_t first, std::uint32_t count, Group& out) {
  const std::uint64_t p = call.size, me = call.me;
  out.recv_blocks(static_cast<std::uint32_t>((me + p - first) % p), count, 0, /*down=*/true);
  out.send_blocks(static_cast<std::uint32_t>((me + first) % p), count, 0);
}

}  // namespace

bool alltoall_spread_out(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint32_t batch = window(call);
  const std::uint64_t first = 1 + std::uint64_t{index} * batch;
  if (first >= call.size) return false;
  const auto begin = static_cast<std::uint32_t>(first);
  exchange(call, begin, std::min(batch, call.size - begin), out);
  return true;
}

std::uint32_t alltoall_windowed_lanes(const CollectiveCall& call) { return window(call); }

bool alltoall_windowed(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint64_t place = 1 + lane + std::uint64_t{index} * window(call);
  if (place >= call.size) return false;
  exchange(call, static_cast<std::uint32_t>(place), 1, out);
  return true;
}

}  // namespace weft::goal
