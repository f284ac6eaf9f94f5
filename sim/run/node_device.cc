#include "sim/run/node_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sim/units/module.h"
#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/node_presets.h"

namespace weft::sim {
namespace {

constexpr std::string_view kAutomatic = "auto";

const topologies::NodePreset* preset_of(const ModuleChoice& network) {
  const auto& all = topologies::families();
  const auto family =
      std::ranges::find_if(all, [&](const auto& each) { return each.info.name == network.name; });
  const auto node = network.given.find("node");
  if (family == all.end() || !family->has_accelerators || node == network.given.end()) return nullptr;
  return topologies::find_node_preset(node->second);
}

// How many a node has; 0 where that isn't plain.
std::uint32_t accelerators_of(const ModuleChoice& network, const topologies::NodePreset& preset) {
  const auto given = network.given.find("accelerators");
  if (given == network.given.end() || given->second == kAutomatic) return preset.accelerators;
  std::uint32_t number = 0;
  const std::string& text = given->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

bool is_left_open(const ModuleChoice& traffic, const char* parameter) {
  if (traffic.empty() || parameter == nullptr) return false;
  const auto found = traffic.given.find(parameter);
  return found == traffic.given.end() || found->second == kAutomatic;
}

// A file of measurements is the user's own word on what computes.
bool is_file(std::string_view device) { return device.find_first_of("./") != std::string_view::npos; }

}  // namespace

std::optional<NodeDevice> node_device(const Scenario& resolved) {
  if (resolved.topology.empty()) return std::nullopt;
  std::optional<NodeDevice> found;
  for (const ModuleChoice& network : topologies::host_networks(resolved.topology)) {
    const topologies::NodePreset* const preset = preset_of(network);
    if (preset == nullptr || preset->device.empty()) return std::nullopt;
    if (found && found->device != preset->device) return std::nullopt;
    const std::uint32_t accelerators = accelerators_of(network, *preset);
    if (!found) {
      found = {std::string(preset->name), std::string(preset->device), std::string(preset->other_device),
               accelerators};
    }
    if (found->accelerators != accelerators) found->accelerators = 0;
  }
  return found;
}

ModuleChoice with_nodes(const ModuleChoice& traffic, const goal::Workload& workload,
                        const Scenario& resolved) {
  ModuleChoice all = traffic;
  const std::optional<NodeDevice> node = node_device(resolved);
  if (!node) return all;
  if (is_left_open(traffic, workload.device)) all.given[workload.device] = node->device;
  if (is_left_open(traffic, workload.node_ranks) && node->accelerators > 0) {
    all.given[workload.node_ranks] = fmt::format("{}", node->accelerators);
  }
  return all;
}

void add_device_remark(const ModuleChoice& traffic, const char* parameter, std::string_view noted,
                       const Scenario& resolved, std::vector<std::string>& remarks) {
  const std::optional<NodeDevice> node = node_device(resolved);
  if (!node) return;
  if (is_left_open(traffic, parameter)) {
    remarks.push_back(
        fmt::format("device {}, as hosts are GPUs of nodes of {}; device=... of the traffic says other",
                    node->device, node->node));
  } else if (!noted.empty() && noted != node->device && noted != node->or_else && !is_file(noted)) {
    remarks.push_back(fmt::format(
        "computing takes the times of {}, as {}, but GPUs of nodes of {} are {}", noted,
        traffic.empty() ? "the graph was generated for it" : "the traffic says", node->node, node->device));
  }
}

}  // namespace weft::sim
