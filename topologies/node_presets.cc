#include "topologies/node_presets.h"

#include <fmt/core.h>

#include <vector>

#include "sim/units/module.h"

namespace weft::topologies {
namespace {

constexpr std::string_view kNvlinkRates = "NCCL 2.30 src/graph/topo.h";
constexpr std::string_view kRead = "read; latency assumed";

Bandwidth mbps(std::int64_t value) { return Bandwidth::bps(value * 1'000'000); }

// What a slot of 16 lanes lets through (openucx/ucx src/ucs/sys/topo: 256 bytes of payload a packet).
const Bandwidth kPcie4 = mbps(225'600), kPcie5 = mbps(451'200);
// A link of NVLink 3, 4 and 5: raw, and as NCCL counts it, which kernels that copy reach.
const Bandwidth kNvlink3 = mbps(160'000), kNvlink4 = mbps(164'800), kNvlink5 = mbps(320'800);

std::vector<NodePreset> make_presets() {
  const Bandwidth g100 = Bandwidth::gbps(100), g200 = Bandwidth::gbps(200), g400 = Bandwidth::gbps(400);
  const Time inside = Time::ns(100);
  return {
      {"dgx_a100", "a100", "8 A100, 6 NVSwitches", 8, 6, 12, g200, kNvlink3, inside, 8, g200, kPcie4,
       "NVIDIA DGX A100 system architecture, 2020", kRead, "hgx_a100", "a100_40gb"},
      {"a100_100g", "a100", "8 A100, one NIC through the host's memory", 8, 6, 12, g200, kNvlink3, inside, 1,
       g100, mbps(72'000), "A. Agrawal et al., Vidur, MLSys 2024 (recorded profiles)",
       "network not told: 9 GB/s fitted to times of NCCL"},
      {"dgx_h100", "h100", "8 H100 or H200, 4 NVSwitches", 8, 4, 18, g200, kNvlink4, inside, 8, g400, kPcie5,
       "NVIDIA DGX H100 system architecture, 2022", kRead, "hgx_h100", "h200"},
      {"dgx_b200", "b200", "8 B200, 2 NVSwitches", 8, 2, 18, g400, kNvlink5, inside, 8, g400, kPcie5,
       "NVIDIA DGX B200 datasheet, 2024", "read; number of switches from memory", "hgx_b200"},
      {"gb200_nvl72", "gb200", "72 B200 of a rack, 18 NVSwitches", 72, 18, 18, g400, kNvlink5, inside, 72,
       g400, kPcie5, "NVIDIA GB200 NVL72 datasheet, 2024", "read; NICs from memory"},
      {"gh200_nvl32", "gh200", "32 GH200 of a rack, 9 switch trays", 32, 9, 18, g200, kNvlink4, inside, 32,
       g400, kPcie5, "NVIDIA GH200 NVL32, 2023", "from memory"},
      {"alps", "gh200", "4 GH200 in pairs", 4, 0, 6, g200, mbps(177'700), inside, 4, g200, kPcie5,
       "CSCS documentation of Alps", "133 GB/s a pair measured; links from memory"},
      {"leonardo", "a100", "4 A100 in pairs", 4, 0, 4, g200, kNvlink3, inside, 4, g100, kPcie4,
       "CINECA documentation of Leonardo", "read; MPI's copies were seen at 93 GB/s a pair, NCCL's at 72"},
      {"marenostrum5_acc", "h100", "4 H100 in pairs", 4, 0, 6, g200, kNvlink4, inside, 4, g200, kPcie5,
       "BSC documentation of MareNostrum 5", "from memory"},
      {"mi300x",
       "mi300x",
       "8 MI300X in pairs",
       8,
       0,
       1,
       Bandwidth::gbps(512),
       Bandwidth::gbps(384),
       inside,
       8,
       g400,
       kPcie5,
       "AMD Instinct MI300X, Infinity Fabric; ROCm/rccl",
       kRead,
       {},
       {},
       64},  // rccl src/rccl_wrap.cc, rcclSetPxn
      {"pcie", "", "8 accelerators on PCIe 5 switches", 8, 1, 1, Bandwidth::gbps(504), Bandwidth::gbps(416),
       Time::ns(500), 1, g400, kPcie5, "H100 to host, microsoft/AI-benchmarking-guide",
       "rate read; one switch and NIC are a guess, ways through CPUs are slower"},
  };
}

}  // namespace

std::span<const NodePreset> node_presets() {
  static const std::vector<NodePreset> all = make_presets();
  return all;
}

const NodePreset* find_node_preset(std::string_view name) {
  for (const NodePreset& preset : node_presets()) {
    if (preset.name == name || (!preset.board.empty() && preset.board == name)) return &preset;
  }
  return nullptr;
}

const NodePreset& node_preset(std::string_view name) {
  if (const NodePreset* const found = find_node_preset(name)) return *found;
  std::vector<std::string> known;
  for (const NodePreset& preset : node_presets()) known.emplace_back(preset.name);
  fail_unknown_name("kind of node", name, known);
}

std::string node_preset_table() {
  std::string text = fmt::format("\n  {:<16}  {:>4}  {:>8}  {:>5}  {:>8}  {:>10}  {:>4}  {:>8}  {:>10}  {}\n",
                                 "node", "acc.", "switches", "links", "raw", "inner_link", "NICs", "each",
                                 "PCIe slot", "what it is; how sure; source");
  for (const NodePreset& p : node_presets()) {
    text += fmt::format("  {:<16}  {:>4}  {:>8}  {:>5}  {:>8}  {:>10}  {:>4}  {:>8}  {:>10}  {}; {}; {}\n",
                        p.name, p.accelerators, p.switches, p.links, to_string(p.raw), to_string(p.payload),
                        p.nics, to_string(p.nic), to_string(p.slot), p.summary, p.sure, p.source);
  }
  return text + fmt::format(
                    "  links: of an accelerator, to the switches together or, without, to each other one;\n"
                    "  inner_link: what copies reach of a link's raw rate, NVLink's as {} counts it.\n",
                    kNvlinkRates);
}

}  // namespace weft::topologies
