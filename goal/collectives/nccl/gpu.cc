#include "goal/collectives/nccl/gpu.h"

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <vector>

#include "sim/units/brackets.h"
#include "sim/units/quantity.h"

namespace weft::goal::nccl {
namespace {

constexpr const char* kTables = "NCCL 2.30, src/graph/tuning.cc: latencies, rates of a channel";

// Latencies over NVLink and between nodes are NCCL's, the same for all its GPUs. What is left of the latter
// is for the message's way to the NIC: without the step's own and the proxy's (its "net overhead"), and
// without 1 us for the network, which a run has from its topology. NCCL has three times that overhead for
// Simple, as latency of a step; the thread posts a message of Simple no slower than one of LL, so two thirds
// of it are on the way.
GpuCosts costs_of(double ll, double ll128, double simple) {
  return {.launch_us = 6.6,
          .channels = {{{0.6, 0.6, ll, ll, 1, 2.4},
                        {1.9, 1.9, ll128, ll128, 1, 4.6},
                        {3.4, 3.4, simple, simple, 1, 8.6}}}};
}

Protocol protocol_of(WireFormat format) {
  if (format == WireFormat::kFlagPerWord) return Protocol::kLl;
  return format == WireFormat::kFlagPerLine ? Protocol::kLl128 : Protocol::kSimple;
}

Time microseconds(double us) { return Time::ps(static_cast<std::int64_t>(us * 1e6 + 0.5)); }
TimePerByte at_rate(double gbs) { return gbs > 0 ? TimePerByte::ns(1 / gbs) : TimePerByte(); }

// One value for all protocols, or [LL, LL128, Simple].
template <typename Parse, typename Set>
void each_protocol(GpuCosts& costs, const Parameters& parameters, std::string_view name, Parse parse,
                   Set set) {
  const std::string& text = parameters.text(name);
  if (text == "auto") return;
  const auto values = split_outside_brackets(without_brackets(text), ',');
  if (values.size() != 1 && values.size() != kProtocols) {
    parameters.fail(name, "it must be one value, or three in brackets: [LL,LL128,Simple]");
  }
  for (std::size_t i = 0; i < kProtocols; ++i) {
    try {
      set(costs.channels[i], parse(values[values.size() == 1 ? 0 : i]));
    } catch (const InputError& error) {
      parameters.fail(name, error.what());
    }
  }
}

double time_us(std::string_view text) {
  const Time time = parse_time(text);
  if (time > Time::us(1'000'000)) throw InputError(fmt::format("'{}' is more than a second", text));
  return static_cast<double>(time.ps()) / 1e6;
}

double rate_gbs(std::string_view text) { return static_cast<double>(parse_bandwidth(text).bps()) / 8e9; }

}  // namespace

std::span<const GpuPreset> gpu_presets() {
  static const std::vector<GpuPreset> kAll = {
      {"v100", "Volta.", kTables, costs_of(20, 20, 26.5)},
      {"a100", "Ampere.", kTables, costs_of(20, 20, 24)},
      {"h100", "Hopper.", kTables, costs_of(36.7, 36.7, 38.7)},
      {"b200", "Blackwell.", kTables, costs_of(55.6, 55.6, 70)},
      {"none", "Nothing takes time but the host's cpu and the links.", "", {}},
  };
  return kAll;
}

const GpuCosts& gpu_preset(std::string_view name) {
  std::vector<std::string> known;
  for (const GpuPreset& preset : gpu_presets()) {
    if (preset.name == name) return preset.costs;
    known.emplace_back(preset.name);
  }
  fail_unknown_name("GPU", name, known);
}

std::vector<ParameterSpec> gpu_parameters() {
  const auto text = [](const char* name, const char* what) {
    return ParameterSpec{name, ParameterType::kText, "auto",
                         fmt::format("{} One value, or [LL,LL128,Simple]; auto: the GPU's.", what)};
  };
  return {
      {"launch", ParameterType::kText, "auto", "Time of a kernel before its first message; auto: the GPU's."},
      text("step", "Time of a channel for a step."),
      text("short_step", "The same where no message has more than 256 bytes."),
      text("copy", "Rate at which a channel copies, such as 20GB/s."),
      text("combine", "Rate at which a channel combines what came with local data."),
      text("proxy", "Time of the GPU's proxy thread for a message to another node."),
      text("between", "What such a message takes to the NIC beside that.")};
}

GpuCosts with_parameters(const GpuCosts& costs, const Parameters& parameters) {
  GpuCosts changed = costs;
  if (parameters.text("launch") != "auto") {
    try {
      changed.launch_us = time_us(parameters.text("launch"));
    } catch (const InputError& error) {
      parameters.fail("launch", error.what());
    }
  }
  const auto each = [&](std::string_view name, double ChannelCosts::*member, auto parse) {
    each_protocol(changed, parameters, name, parse,
                  [&](ChannelCosts& channel, double value) { channel.*member = value; });
  };
  each("step", &ChannelCosts::step_us, time_us);
  each("short_step", &ChannelCosts::short_us, time_us);
  each("proxy", &ChannelCosts::proxy_us, time_us);
  each("copy", &ChannelCosts::copy_gbs, rate_gbs);
  each("combine", &ChannelCosts::combine_gbs, rate_gbs);
  each("between", &ChannelCosts::between_us, time_us);
  return changed;
}

LaneCosts lane_costs(const GpuCosts& costs, WireFormat format, std::uint32_t bundle) {
  const ChannelCosts& channel = costs.channels[static_cast<std::size_t>(protocol_of(format))];
  LaneCosts lane{.launch = microseconds(costs.launch_us),
                 .step = microseconds(channel.step_us),
                 .short_step = microseconds(channel.short_us),
                 .copy = at_rate(channel.copy_gbs * bundle),
                 .combine = at_rate(channel.combine_gbs * bundle),
                 .proxy = microseconds(channel.proxy_us),
                 .between_nodes = microseconds(channel.between_us),
                 .bundle = bundle};
  lane.given =
      !(lane.launch == Time() && lane.step == Time() && lane.short_step == Time() && lane.proxy == Time() &&
        lane.between_nodes == Time() && lane.copy == TimePerByte() && lane.combine == TimePerByte());
  return lane;
}

LaneCosts divided_lane_costs(const GpuCosts& costs, WireFormat format, std::uint32_t channels,
                             std::uint64_t chunk_bytes) {
  LaneCosts lane = lane_costs(costs, format, channels);
  lane.bundle = 1;
  lane.copied_bytes = chunk_bytes * channels;
  return lane;
}

}  // namespace weft::goal::nccl
