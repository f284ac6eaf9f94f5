#include "sim/run/what_if.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/run/nccl_nodes.h"
#include "sim/run/network_models.h"

namespace weft::sim {
namespace {

// Times and costs per byte of network models, by name; a model has some of them.
constexpr std::array<std::string_view, 5> kLatencies = {"L", "send_delay", "receive_delay", "host_delay",
                                                        "local_latency"};

// `sets`: also where the choice leaves the default.
void scale(const ModuleInfo& info, ModuleChoice& choice, std::string_view name, double factor,
           bool sets = true) {
  const auto spec = std::ranges::find(info.parameters, name, &ParameterSpec::name);
  if (spec == info.parameters.end() || factor == 1) return;
  if (!sets && !choice.given.contains(std::string(name))) return;
  const Parameters parameters(info, choice);
  std::string& value = choice.given[std::string(name)];
  if (spec->type == ParameterType::kTime) {
    value = fmt::format("{:.3f}ns", static_cast<double>(parameters.time(name).ps()) / 1000 * factor);
  } else if (spec->type == ParameterType::kBandwidth) {
    value = fmt::format("{:.0f}bps", static_cast<double>(parameters.bandwidth(name).bps()) * factor);
  } else {
    value = fmt::format("{}", parameters.real(name) * factor);
  }
}

}  // namespace

void put_in_one_partition(Scenario& resolved) {
  const ModuleInfo& info = find_module(network_models(), resolved.network, "network model").info;
  resolved.threads = 1;
  if (std::ranges::find(info.parameters, "partitions", &ParameterSpec::name) != info.parameters.end()) {
    resolved.network.given["partitions"] = "1";
  }
}

Scenario changed(const Scenario& resolved, const WhatIf& what_if) {
  Scenario scenario = resolved;
  const ModuleInfo& info = find_module(network_models(), scenario.network, "network model").info;
  for (const std::string_view name : kLatencies) scale(info, scenario.network, name, what_if.latencies);
  scale(info, scenario.network, "local_bandwidth", what_if.rates);
  for (const std::string_view name : {"g", "G"}) scale(info, scenario.network, name, 1 / what_if.rates);
  for (const std::string_view name : {"o", "O"}) {
    scale(info, scenario.network, name, what_if.overheads);
    scale(hosts_section(), scenario.hosts, name, what_if.overheads);
    for (Job& job : scenario.jobs) scale(hosts_section(), job.hosts, name, what_if.overheads);
  }
  const auto profile = scenario.collectives.given.find("profile");
  if (what_if.overheads == 0 && profile != scenario.collectives.given.end()) {
    profile->second = without_gpu_costs(profile->second);
  }
  for (const std::string_view name :
       {"reduction_per_byte", "reduction_from_memory", "copy_per_byte", "copy_from_memory"}) {
    scale(hosts_section(), scenario.hosts, name, what_if.compute);
    for (Job& job : scenario.jobs) scale(hosts_section(), job.hosts, name, what_if.compute, false);
  }
  for (Job& job : scenario.jobs) job.compute_scale *= what_if.compute;
  put_in_one_partition(scenario);
  return scenario;
}

}  // namespace weft::sim
