#include <cstdint>
#include <vector>

#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

// In the v forms only the root knows every count; another rank knows its own, as `bytes`.
std::uint64_t count_of(const Collective& collective, const std::vector<std::uint64_t>& counts,
                       std::uint32_t rank) {
  return counts.empty() ? collective.bytes : counts[rank];
}

}  // namespace

void gather_linear(const CollectiveCall& call, Schedule& schedule) {
  const Collective& collective = *call.collective;
  if (call.me != collective.root) {
    const std::uint64_t bytes = count_of(collective, collective.counts, call.me);
    if (bytes > 0) schedule.send(collective.root, bytes, 0);
    return;
  }
  for (std::uint32_t rank = 0; rank < call.size; ++rank) {
    const std::uint64_t bytes = count_of(collective, collective.counts, rank);
    if (rank != call.me && bytes > 0) schedule.recv(rank, bytes, 0);
  }
}

void scatter_linear(const CollectiveCall& call, Schedule& schedule) {
  const Collective& collective = *call.collective;
  if (call.me != collective.root) {
    const std::uint64_t bytes = count_of(collective, collective.counts, call.me);
    if (bytes > 0) schedule.recv(collective.root, bytes, 0);
    return;
  }
  for (std::uint32_t rank = 0; rank < call.size; ++rank) {
    const std::uint64_t bytes = count_of(collective, collective.counts, rank);
    if (rank != call.me && bytes > 0) schedule.send(rank, bytes, 0);
  }
}

void alltoall_linear(const CollectiveCall& call, Schedule& schedule) {
  const Collective& collective = *call.collective;
  const std::uint64_t p = call.size, me = call.me;
  for (std::uint64_t k = 1; k < p; ++k) {
    const auto from = static_cast<std::uint32_t>((me + p - k) % p);
    const std::uint64_t bytes = count_of(collective, collective.receive_counts, from);
    if (bytes > 0) schedule.recv(from, bytes, 0);
  }
  // Each rank starts with its neighbour, so that not all send to rank 0 first.
  for (std::uint64_t k = 1; k < p; ++k) {
    const auto to = static_cast<std::uint32_t>((me + k) % p);
    const std::uint64_t bytes = count_of(collective, collective.counts, to);
    if (bytes > 0) schedule.send(to, bytes, 0);
  }
}

}  // namespace weft::goal
