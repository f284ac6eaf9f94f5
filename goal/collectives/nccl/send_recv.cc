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
    channels = std::max(2.0, 2 * node.nvlink_gbs / link);
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
  const double inside = node.nvlink_gbs > 0 ? node.nvlink_gbs : node.pcie_gbs;
  result.gbs = between_nodes ? node.nic_for_messages_gbs() * nics_of_gpu(node) * node.message_share : inside;
  if (is_short) result.gbs /= 2;  // a flag for each word
  result.time_us = result.latency_us + static_cast<double>(bytes) / (1000 * result.gbs);
  return result;
}

}  // namespace weft::goal::nccl
