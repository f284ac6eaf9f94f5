#include "goal/collectives/nccl/send_recv.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "goal/collectives/nccl/tuning_tables.h"
#include "sim/units/input_error.h"

namespace weft::goal::nccl {
namespace {

constexpr std::uint64_t kMostLlBytes = 16'384;  // of a channel: NCCL_P2P_LL_THRESHOLD
constexpr double kChannelGbs = 14;              // of a NIC, what NCCL has one channel for

std::uint32_t nics_of_gpu(const Node& node) { return (node.nics + node.gpus - 1) / std::max(node.gpus, 1u); }

std::uint32_t channels_of(const Node& node, bool between_nodes) {
  const double link = nvlink_rate(node.compute_capability);
  double channels = 2;
  if (between_nodes) {
    channels =
        std::max({2.0, double(nics_of_gpu(node)), std::ceil(node.nic_through_pcie_gbs() / kChannelGbs)});
  } else if (node.nvlink_gbs > 0) {
    channels = std::max(2.0, 2 * std::floor(node.nvlink_among_gbs(2) / link + 1e-6));
  }
  return std::bit_ceil(static_cast<std::uint32_t>(std::min(channels, 32.0)));
}

}  // namespace

SendRecv send_recv(const Node& node, Version version, std::uint64_t bytes, bool between_nodes) {
  if (between_nodes && (node.nics == 0 || node.nic_through_pcie_gbs() <= 0))
    throw InputError("a node for NCCL: it needs a NIC to send to others");
  SendRecv result;
  result.channels = channels_of(node, between_nodes);
  // Buffers of LL are not laid out for other nodes.
  const bool is_short = !between_nodes && bytes <= result.channels * kMostLlBytes;
  result.protocol = is_short ? Protocol::kLl : Protocol::kSimple;
  const int ring = static_cast<int>(Algorithm::kRing), protocol = static_cast<int>(result.protocol);
  const Tables& t = tables(version);
  const int link = between_nodes ? 2 : node.nvlink_gbs > 0 ? 0 : 1;
  result.latency_us = t.base_us[ring][protocol] + t.link_us[link][ring][protocol];
  const double inside = node.nvlink_gbs > 0 ? node.nvlink_among_gbs(2) : node.pcie_gbs;
  result.gbs = between_nodes ? node.nic_for_messages_gbs() * nics_of_gpu(node) * node.message_share : inside;
  if (is_short) result.gbs /= 2;  // a flag for each word
  result.time_us = result.latency_us + static_cast<double>(bytes) / (1000 * result.gbs);
  return result;
}

Exchange exchange(const Node& node, std::uint32_t channels, std::uint64_t bytes, std::uint32_t ranks) {
  constexpr std::uint32_t kPeersTogether = 8;
  constexpr std::uint64_t kNear = 512 << 10, kFar = 128 << 10;  // chunks
  const bool is_one_node = ranks <= node.gpus, is_near = is_one_node && node.nvlink_gbs > 0;
  const std::uint32_t all = std::bit_ceil(std::max(channels, 1u));
  std::uint32_t each =
      is_one_node ? channels_of(node, false)
                  : std::min(channels_of(node, true), node.gpus > 1 ? channels_of(node, false) : UINT32_MAX);
  each = std::min(each, all);
  const std::uint32_t groups = (ranks + kPeersTogether - 1) / kPeersTogether;
  while (!is_one_node && each > 1 && each * groups > all) each /= 2;
  const std::uint64_t chunk = is_near ? kNear : kFar;
  const std::uint64_t least = is_one_node ? chunk / 8 : chunk / 2;  // what a channel is worth taking for
  each = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((bytes + least - 1) / least, 1, each));
  const bool is_short = is_one_node && bytes <= each * kMostLlBytes;
  return {is_short ? Protocol::kLl : Protocol::kSimple, each, chunk};
}

}  // namespace weft::goal::nccl
