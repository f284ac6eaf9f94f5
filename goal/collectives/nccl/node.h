// What NCCL looks at of a machine: one node, all nodes being alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "goal/collectives/nccl/gpu.h"
#include "goal/collectives/node_ranks.h"

namespace weft::goal::nccl {

enum class CpuVendor : std::uint8_t { kIntel, kAmd, kOther };

// How far apart two devices of a node are, nearest first (NCCL's path types, as far as they matter here).
enum class PathType : std::uint8_t { kNvlink, kOneSwitch, kSwitches, kHostBridge, kSystem };
std::string_view name(PathType path);  // "NVL", "PIX", "PXB", "PHB", "SYS"

// What measured times differ by from those that NCCL's tables give; its choice goes by the tables alone.
// [tree, ring, NVLS][LL, LL128, Simple]; NVLS has Simple alone.
struct Correction {
  double launch_us = 0;          // before the first byte
  bool on_one_node = false;      // measured there: on several nodes launch alone counts
  std::uint64_t most_bytes = 0;  // of the allreduces it was fitted to; 0: it wasn't
  double latency[3][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  double moving[3][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  // Returns what counts of a factor at this size: all of it up to most_bytes, and 1 from 2^kBeyond times that
  // on.
  static constexpr double kBeyond = 3;
  double moving_at(std::uint64_t bytes, double fitted) const;
  // Instead of latency, for a ring with LL and at most 16 bytes of data for each rank.
  double short_ring_latency = 1;
};

// Rates are in GB/s (10^9 bytes) in one direction, as NCCL counts them.
struct Node {
  std::string label;  // what it is called
  std::uint32_t gpus = 8;
  std::uint32_t first_gpus = 0;           // a group's on its first node, if fewer; 0: as many
  std::uint32_t uneven_nodes = 0;         // a group's, if some have `gpus`, others fewer down to first_gpus
  std::uint32_t compute_capability = 90;  // 90: Hopper
  double nvlink_gbs = 370.8;              // of a GPU, all its links together; 0: PCIe only
  double pcie_gbs = 24;                   // of a GPU
  // Links to each other GPU instead of switches: two GPUs have a part of nvlink_gbs between them, and rings
  // pass the GPUs in different orders.
  bool in_pairs = false;
  bool nvls = true;  // NVSwitches that reduce (third generation and later)
  std::uint32_t rings_found =
      0;  // within a node, where they stand in tables (RCCL); 0: those that NCCL finds
  std::uint32_t nics = 8;
  double nic_gbs = 50;                       // of each
  PathType nic_path = PathType::kOneSwitch;  // from a GPU to its NIC
  // What messages get of a NIC, where copies through the host's memory or a TCP stack keep them from its
  // rate, and what one GPU's get that sends and receives at once; 0: all. NCCL's choice doesn't know of
  // either.
  double nic_payload_gbs = 0, gpu_payload_gbs = 0;
  double message_share = 1;          // of a NIC, what a single send gets
  Version version = Version::k2_30;  // whose choices its measurements show; the user's comes first
  CpuVendor cpu = CpuVendor::kIntel;

  Correction correction;
  GpuCosts gpu;  // of its channels, in a run

  // What a GPU's NVLinks carry among so many GPUs of its node, itself one of them: in pairs, links to the
  // others carry nothing.
  double nvlink_among_gbs(std::uint32_t taking_part) const {
    if (!in_pairs || gpus < 2 || taking_part < 2) return nvlink_gbs;
    return nvlink_gbs * ((taking_part - 1.0) / (gpus - 1.0));
  }
  // A NIC is behind the PCIe slot of a GPU, whose rate it can't exceed.
  double nic_through_pcie_gbs() const { return pcie_gbs > 0 && pcie_gbs < nic_gbs ? pcie_gbs : nic_gbs; }
  // Messages may get less of a NIC than its rate.
  double nic_for_messages_gbs() const {
    const double nic = nic_through_pcie_gbs();
    return nic_payload_gbs > 0 && nic_payload_gbs < nic ? nic_payload_gbs : nic;
  }
  NodeRanks ranks() const { return {gpus, first_gpus}; }
  // What `gpus` of its GPUs can send to other nodes and receive from them at once.
  double sends_gbs(std::uint32_t gpus) const {
    const double all = nic_for_messages_gbs() * nics;
    return gpu_payload_gbs > 0 && gpu_payload_gbs * gpus < all ? gpu_payload_gbs * gpus : all;
  }
};

// Returns the same kind of node with another number of GPUs, linked as before (each to each other one where
// they are linked in pairs), and as many NICs for each as before: at least one, if there were any. REQUIRES:
// gpus >= 1.
Node with_gpus(Node node, std::uint32_t gpus);

// Returns the same kind of node with links in pairs, or to a switch; only to those it had before does a
// switch that reduces belong.
Node with_links(Node node, bool in_pairs);

// NVIDIA's figure of a NVLink link in GB/s, as NCCL has it, by compute capability.
double nvlink_rate(std::uint32_t compute_capability);

// The kind of node where nobody says one.
inline constexpr const char* kUsualNode = "dgx_h100";

struct NodePreset {
  std::string_view name, summary, source;
  Node node;
};
std::span<const NodePreset> node_presets();
// Throws InputError with the nearest name.
const Node& node_preset(std::string_view name);

}  // namespace weft::goal::nccl
