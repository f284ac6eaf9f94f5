// Grouped sends and receives, of which an alltoall is made, in the order in which NCCL works through them.
// Source: NCCL 2.30, src/init.cc (p2p schedule).
#include <algorithm>
#include <bit>

#include "goal/collectives/nccl/algorithms.h"

namespace weft::goal::nccl {
namespace {

constexpr std::uint32_t kMostInGroup = 8;  // NCCL_P2P_SCHEDULE_GROUP_SIZE

bool divides_nodes(const CollectiveOptions& options, std::uint32_t size) {
  if (options.order != nullptr && options.order->tells_nodes()) return options.order->divisor % size == 0;
  return options.ranks_per_node % size == 0 && options.first_node % size == 0;
}

// Ranks that take turns together; 1 where nodes can't be divided evenly.
std::uint32_t group_size(const CollectiveCall& call) {
  const std::uint32_t most = std::min(kMostInGroup, call.options->ranks_per_node);
  for (std::uint32_t size = most; size > 1; --size) {
    if (call.size % size == 0 && divides_nodes(*call.options, size)) return size;
  }
  return 1;
}

// The k-th distance between groups: 0, 1, 3, 6, 10 … modulo a power of two, without those that are too far.
std::uint32_t group_distance(std::uint32_t groups, std::uint32_t k) {
  const std::uint32_t wrap = std::bit_ceil(groups);
  if (wrap == groups) {
    return static_cast<std::uint32_t>(std::uint64_t{k} * (std::uint64_t{k} + 1) / 2 % wrap);
  }
  std::uint32_t distance = 0;
  for (std::uint32_t t = 0;; ++t) {
    distance = (distance + t) % wrap;
    if (distance < groups && k-- == 0) return distance;
  }
}

}  // namespace

P2pRound p2p_round(const CollectiveCall& call, std::uint32_t round) {
  const std::uint32_t in_group = group_size(call), groups = call.size / in_group;
  const std::uint32_t far = group_distance(groups, round / in_group), near = round % in_group;
  const std::uint32_t group = call.place() / in_group, local = call.place() % in_group;
  return {(group + far) % groups * in_group + (local + near) % in_group,
          (group + groups - far) % groups * in_group + (local + in_group - near) % in_group};
}

std::uint32_t p2p_lanes(const CollectiveCall& call) {
  const std::uint32_t exchanges = call.size - 1, most = call.options->parallel;
  return most == 0 ? exchanges : std::min(most, exchanges);
}

bool alltoall_p2p(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint64_t round = std::uint64_t{index} * p2p_lanes(call) + lane + 1;
  if (round >= call.size) return false;
  const P2pRound peers = p2p_round(call, static_cast<std::uint32_t>(round));
  out.recv_blocks(peers.from, 1, 0);
  out.send_blocks(peers.to, 1, 0);
  out.in_format(call.options->format);
  return true;
}

}  // namespace weft::goal::nccl
