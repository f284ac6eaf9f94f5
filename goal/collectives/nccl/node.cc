#include "goal/collectives/nccl/node.h"

#include <vector>

#include "sim/units/module.h"

namespace weft::goal::nccl {
namespace {

constexpr const char* kDgxA100 = "NVIDIA DGX A100 system architecture, 2020: 8 GPUs, 12 NVLinks, HDR200";
constexpr const char* kDgxH100 = "NVIDIA DGX H100 system architecture, 2022: 8 GPUs, 18 NVLinks, NDR400";
constexpr const char* kDgxB200 = "NVIDIA DGX B200 datasheet, 2024: 8 GPUs, 18 NVLinks, NDR400";
constexpr const char* kMareNostrum =
    "MareNostrum 5, accelerated partition: 4 H100, 4 NDR200; estimates fitted to allreduces on 4 nodes, "
    "costs of channels set by hand in part, see README.md";

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

Node marenostrum5() {
  Node node = dgx("marenostrum5_acc", 90, 18 * nvlink_rate(90), 25, CpuVendor::kIntel, false);
  node.gpus = node.nics = 4;
  // By fit_allreduce.py.
  node.correction = {.launch_us = 1.393,
                     .latency = {{0.752, 1.028, 1.001}, {1.327, 1.344, 0.877}},
                     .moving = {{1.398, 0.954, 1.04}, {1.036, 0.991, 1.036}},
                     .short_ring_latency = 0.872};
  // By fit_replay.py and then, for LL and the launch, by hand with times on 8 and 16 nodes in sight
  // (README.md); those of Simple are the preset's.
  node.gpu = gpu_preset("h100");
  node.gpu.launch_us = 0.3;
  node.gpu.channels[0] = {0.9, 0.25, 24.5, 24.5, 0.87, 1.6};
  node.gpu.channels[1] = {1.9, 1.9, 11.7, 11.7, 0.87, 4.6};
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

std::span<const NodePreset> node_presets() {
  static const std::vector<NodePreset> kAll = {
      {"dgx_a100", "8 A100 with NVSwitch, 8 NICs of 200 Gb/s.", kDgxA100,
       dgx("dgx_a100", 80, 12 * nvlink_rate(80), 25, CpuVendor::kAmd, false)},
      {"dgx_h100", "8 H100 with NVSwitch that reduces, 8 NICs of 400 Gb/s.", kDgxH100,
       dgx("dgx_h100", 90, 18 * nvlink_rate(90), 50, CpuVendor::kIntel, true)},
      {"dgx_b200", "8 B200 with NVSwitch that reduces, 8 NICs of 400 Gb/s.", kDgxB200,
       dgx("dgx_b200", 100, 18 * nvlink_rate(100), 50, CpuVendor::kIntel, true)},
      {"marenostrum5_acc", "4 H100 linked in pairs, 4 NICs of 200 Gb/s; fitted to measurements.",
       kMareNostrum, marenostrum5()},
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
