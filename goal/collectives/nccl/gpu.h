// What NCCL's channels cost on a GPU, where a run replays its schedules: the time a channel takes for a step
// and for each byte, and what the proxy thread adds to a message between nodes.
//
// Presets come from NCCL's own tables (src/graph/tuning.cc: base and hardware latencies, rates of a channel),
// so they hold what NCCL's authors measured a step to take, its way over NVLink included: with them the
// links inside a node need no latency of their own. CHANNELS.md says where each figure is from.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "goal/collectives/nccl/settings.h"
#include "goal/collectives/steps.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// These are the costs with one protocol. Rates are of one channel, in GB/s (10^9 bytes of data).
struct ChannelCosts {
  double step_us = 0;      // a step: flags, fences, the way to the next GPU
  double short_us = 0;     // the same where no message has more than 256 bytes
  double copy_gbs = 0;     // 0: takes no time
  double combine_gbs = 0;  // what came is combined with local data
  double proxy_us = 0;     // of the GPU's proxy thread, for a message to another node
  double between_us = 0;   // such a message on its way to the NIC, beside that
};

struct GpuCosts {
  double launch_us = 0;                             // a kernel, before its first message
  std::array<ChannelCosts, kProtocols> channels{};  // LL, LL128, Simple
};

struct GpuPreset {
  std::string_view name, summary, source;
  GpuCosts costs;
};
std::span<const GpuPreset> gpu_presets();
// Throws InputError with the nearest name.
const GpuCosts& gpu_preset(std::string_view name);

// Parameters of the profile `nccl` that change single figures: launch, step, short_step, copy, combine,
// proxy, between.
std::vector<ParameterSpec> gpu_parameters();
// `costs` with those that are given. Throws InputError for a figure out of bounds.
GpuCosts with_parameters(const GpuCosts& costs, const Parameters& parameters);

// What lanes of a schedule with this protocol cost, of which each has `bundle` channels side by side.
LaneCosts lane_costs(const GpuCosts& costs, WireFormat format, std::uint32_t bundle = 1);
// What a lane costs that has so many channels for one message, each of which copies chunks of so many bytes
// while those before are on their way.
LaneCosts divided_lane_costs(const GpuCosts& costs, WireFormat format, std::uint32_t channels,
                             std::uint64_t chunk_bytes);

}  // namespace weft::goal::nccl
