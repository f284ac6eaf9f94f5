#include "goal/collectives/nccl/node.h"

#include <algorithm>
#include <vector>

#include "sim/units/module.h"

namespace weft::goal::nccl {
namespace {

constexpr const char* kDgxA100 =
    "NVIDIA DGX A100 system architecture, 2020: 8 GPUs, 12 NVLinks, HDR200; times on one node fitted to A. "
    "Agrawal et al., Vidur, MLSys 2024 (recorded profiles)";
constexpr const char* kDgxH100 =
    "NVIDIA DGX H100 system architecture, 2022: 8 GPUs, 18 NVLinks, NDR400; times on one node fitted to A. "
    "Agrawal et al., Vidur, MLSys 2024 (recorded profiles)";
constexpr const char* kA100OneNic =
    "as dgx_a100; rates between nodes fitted to A. Agrawal et al., Vidur, MLSys 2024 (recorded profiles), "
    "whose network isn't told";
constexpr const char* kDgxB200 = "NVIDIA DGX B200 datasheet, 2024: 8 GPUs, 18 NVLinks, NDR400";
constexpr const char* kNvl72 =
    "NVIDIA GB200 NVL72 datasheet, 2024: 72 GPUs, 18 NVLinks each; microsoft/AI-benchmarking-guide";
constexpr const char* kAlps = "CSCS documentation of Alps: 4 GH200 a node, 4 Slingshot NICs";
constexpr const char* kLeonardo =
    "CINECA documentation of Leonardo Booster: 4 A100 a node, 2 dual-port HDR100 adapters";
constexpr const char* kNvl32 =
    "NVIDIA GH200 NVL32, 2023, from memory: 32 GH200, 18 NVLinks each, a NIC of 400 Gb/s for each";
constexpr const char* kMi300x =
    "AMD Instinct MI300X, Infinity Fabric: 8 GPUs, 48 of 64 GB/s of each link; NCCL's tables of Hopper stand "
    "for RCCL's";
constexpr const char* kPcie =
    "PCIe 5 as NCCL counts it; one switch for all is a guess, and NCCL's tables of Hopper";
constexpr const char* kMareNostrum =
    "MareNostrum 5, accelerated partition: 4 H100, 4 NDR200; estimates and costs of channels fitted to "
    "allreduces on 4 nodes, goal/collectives/nccl/RESULTS.md";

Node dgx(const char* label, std::uint32_t capability, double nvlink, double nic, CpuVendor cpu, bool nvls) {
  Node node;
  node.label = label;
  node.compute_capability = capability;
  node.nvlink_gbs = nvlink;
  node.pcie_gbs = capability >= 90 ? 48 : 24;
  node.nic_gbs = nic;
  node.cpu = cpu;
  node.nvls = nvls;
  node.gpu = gpu_preset(capability >= 100 ? "b200" : capability >= 90 ? "h100" : "a100");
  return node;
}

Node of_gpus(Node node, std::uint32_t gpus) {
  node.gpus = node.nics = gpus;
  return node;
}

Node of_pairs(Node node, std::uint32_t gpus) {
  node = of_gpus(node, gpus);
  node.in_pairs = true;
  return node;
}

// Rings by RCCL's tables, which use each link: as many as pass all links equally often.
Node mi300x() {
  Node node = dgx("mi300x", 90, 7 * 48, 50, CpuVendor::kAmd, false);
  node.in_pairs = true;
  node.rings_found = 14;
  return node;
}

Node pcie() {
  Node node = dgx("pcie", 90, 0, 50, CpuVendor::kIntel, false);
  node.nics = 1;
  node.nic_path = PathType::kSwitches;
  return node;
}

// Launch and factors by fit_one_node.py, which sees no trees: they are not chosen on one node. NVLS keeps
// NCCL's own figures, as the times on 8 H100 look like a ring's (RESULTS.md).
Node dgx_a100() {
  Node node = dgx("dgx_a100", 80, 12 * nvlink_rate(80), 25, CpuVendor::kAmd, false);
  node.correction = {.launch_us = 24.7,
                     .on_one_node = true,
                     .most_bytes = 67'000'000,
                     .latency = {{1, 1, 1}, {0.456, 0.456, 1.209}, {1, 1, 1}},
                     .moving = {{1, 1, 1}, {0.975, 1.639, 1.338}, {1, 1, 1}}};
  // In a run: by hand, in whole figures, for the table of replays in RESULTS.md.
  constexpr double kRates[] = {20, 8, 11};
  node.gpu.launch_us = 22;
  for (int protocol = 0; protocol < kProtocols; ++protocol) {
    node.gpu.channels[protocol].copy_gbs = node.gpu.channels[protocol].combine_gbs = kRates[protocol];
  }
  return node;
}

Node dgx_h100() {
  Node node = dgx("dgx_h100", 90, 18 * nvlink_rate(90), 50, CpuVendor::kIntel, true);
  node.correction = {.launch_us = 20.2,
                     .on_one_node = true,
                     .most_bytes = 67'000'000,
                     .latency = {{1, 1, 1}, {0.951, 0.462, 0.377}, {1, 1, 1}},
                     .moving = {{1, 1, 1}, {0.747, 0.728, 1.013}, {1, 1, 1}}};
  node.gpu.launch_us = 15;
  node.message_share = 0.73;  // 35 GB/s of 48, the same measurements
  return node;
}

// One NIC for all GPUs, behind the host's bridge: NCCL copies through the host's memory, and takes no LL128.
Node a100_one_nic() {
  Node node = dgx_a100();
  node.label = "a100_100g";
  node.nics = 1;
  node.nic_gbs = 12.5;
  node.nic_path = PathType::kSystem;
  node.nic_payload_gbs = 9;
  node.gpu_payload_gbs = 6;
  node.version = Version::k2_20;  // rings and trees change places at the sizes of its tables
  return node;
}

Node marenostrum5() {
  Node node = of_pairs(dgx("marenostrum5_acc", 90, 18 * nvlink_rate(90), 25, CpuVendor::kIntel, false), 4);
  // By fit_allreduce.py.
  node.correction = {.launch_us = 1.393,
                     .most_bytes = 536870912,
                     .latency = {{0.752, 1.028, 1.001}, {1.327, 1.344, 0.877}},
                     .moving = {{1.398, 0.954, 1.04}, {1.036, 0.991, 1.036}},
                     .short_ring_latency = 0.872};
  // By fit_replay.py --fit.
  node.gpu = {.launch_us = 1.358,
              .channels = {{{0.698, 0.373, 70.29, 70.29, 1.164, 1.891},
                            {1.9, 1.9, 16.11, 16.11, 1.164, 3.547},
                            {3.4, 3.4, 42.2, 42.2, 3.492, 6.6}}}};
  return node;
}

}  // namespace

std::string_view name(PathType path) {
  constexpr std::string_view kNames[] = {"NVL", "PIX", "PXB", "PHB", "SYS"};
  return kNames[static_cast<int>(path)];
}

double nvlink_rate(std::uint32_t capability) {
  if (capability >= 100) return 40.1;
  if (capability >= 90) return 20.6;
  return capability >= 70 ? 20 : 18;
}

Node with_gpus(Node node, std::uint32_t gpus) {
  const std::uint64_t before = std::max(node.gpus, 1u);
  node.nvlink_gbs = node.nvlink_among_gbs(gpus);
  node.nics = static_cast<std::uint32_t>((std::uint64_t{node.nics} * gpus + before - 1) / before);
  node.gpus = gpus;
  node.first_gpus = node.uneven_nodes = 0;
  return node;
}

Node with_links(Node node, bool in_pairs) {
  node.nvls = node.nvls && node.in_pairs == in_pairs;
  node.in_pairs = in_pairs;
  return node;
}

std::span<const NodePreset> node_presets() {
  static const std::vector<NodePreset> kAll = {
      {"dgx_a100", "8 A100 with NVSwitch, 8 NICs of 200 Gb/s.", kDgxA100, dgx_a100()},
      {"dgx_h100", "8 H100 with NVSwitch that reduces, 8 NICs of 400 Gb/s.", kDgxH100, dgx_h100()},
      {"a100_100g", "8 A100 with NVSwitch, one NIC of 100 Gb/s for all, through the host's memory.",
       kA100OneNic, a100_one_nic()},
      {"dgx_b200", "8 B200 with NVSwitch that reduces, 8 NICs of 400 Gb/s.", kDgxB200,
       dgx("dgx_b200", 100, 18 * nvlink_rate(100), 50, CpuVendor::kIntel, true)},
      {"gb200_nvl72", "72 B200 in a rack with NVSwitches that reduce, a NIC of 400 Gb/s for each.", kNvl72,
       of_gpus(dgx("gb200_nvl72", 100, 18 * nvlink_rate(100), 50, CpuVendor::kOther, true), 72)},
      {"alps", "4 GH200 linked in pairs, 4 NICs of 200 Gb/s.", kAlps,
       of_pairs(dgx("alps", 90, 18 * nvlink_rate(90), 25, CpuVendor::kOther, false), 4)},
      {"leonardo", "4 A100 linked in pairs, 4 NICs of 100 Gb/s.", kLeonardo,
       of_pairs(dgx("leonardo", 80, 12 * nvlink_rate(80), 12.5, CpuVendor::kIntel, false), 4)},
      {"marenostrum5_acc", "4 H100 linked in pairs, 4 NICs of 200 Gb/s; fitted to measurements.",
       kMareNostrum, marenostrum5()},
      {"gh200_nvl32", "32 GH200 in a rack with NVSwitches that reduce, a NIC of 400 Gb/s for each.", kNvl32,
       of_gpus(dgx("gh200_nvl32", 90, 18 * nvlink_rate(90), 50, CpuVendor::kOther, true), 32)},
      {"mi300x", "8 MI300X linked in pairs, 8 NICs of 400 Gb/s.", kMi300x, mi300x()},
      {"pcie", "8 accelerators on PCIe 5 switches, one NIC of 400 Gb/s.", kPcie, pcie()},
  };
  return kAll;
}

const Node& node_preset(std::string_view name) {
  std::vector<std::string> known;
  for (const NodePreset& preset : node_presets()) {
    if (preset.name == name) return preset.node;
    known.emplace_back(preset.name);
  }
  fail_unknown_name("kind of node", name, known);
}

}  // namespace weft::goal::nccl
