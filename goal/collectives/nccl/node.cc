#include "goal/collectives/nccl/node.h"

#include <vector>

#include "sim/units/module.h"

namespace weft::goal::nccl {
namespace {

constexpr const char* kDgxA100 = "NVIDIA DGX A100 system architecture, 2020: 8 GPUs, 12 NVLinks, HDR200";
constexpr const char* kDgxH100 = "NVIDIA DGX H100 system architecture, 2022: 8 GPUs, 18 NVLinks, NDR400";
constexpr const char* kDgxB200 = "NVIDIA DGX B200 datasheet, 2024: 8 GPUs, 18 NVLinks, NDR400";
constexpr const char* kMareNostrum =
    "MareNostrum 5, accelerated partition: 4 H100, 4 NDR200; estimates and costs of channels fitted to "
    "allreduces on 4 nodes, see README.md";

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
