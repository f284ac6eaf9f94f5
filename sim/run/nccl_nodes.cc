#include "sim/run/nccl_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>

#include "goal/collectives/nccl/gpu.h"
#include "goal/collectives/nccl/node.h"
#include "goal/collectives/selection_profiles.h"
#include "sim/run/nic_use.h"
#include "sim/units/module.h"
#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/node_presets.h"

namespace weft::sim {
namespace {

std::string value_of(const std::map<std::string, std::string>& given, const char* name) {
  const auto found = given.find(name);
  return found == given.end() || found->second == "auto" ? "" : found->second;
}

// What the topology says of nodes.
struct Inside {
  bool known = false;  // whether hosts share nodes
  std::string node;    // kind of node, as NCCL's tables have it; "": not told
  std::string gpus;    // of a node; "": as many as its kind has
  std::string pairs;   // whether links are in pairs, where that isn't as its kind has them

  bool operator==(const Inside&) const = default;
};

// Null of a plug-in's.
const topologies::Family* family_of(const ModuleChoice& network) {
  const auto& all = topologies::families();
  const auto family =
      std::ranges::find_if(all, [&](const auto& each) { return each.info.name == network.name; });
  return family == all.end() ? nullptr : &*family;
}

bool is_of_nodes(const ModuleChoice& network) {
  const topologies::Family* const family = family_of(network);
  return family != nullptr && family->has_accelerators;
}

bool is_from_file(const ModuleChoice& network) {
  const topologies::Family* const family = family_of(network);
  return family != nullptr && family->is_from_file;
}

// Tells what nodes are whose accelerators are the hosts.
Inside inside_of_nodes(const ModuleChoice& network) {
  Inside inside{.known = true};
  const topologies::NodePreset* const known = topologies::find_node_preset(value_of(network.given, "node"));
  if (known != nullptr) inside.node = known->name;
  inside.gpus = value_of(network.given, "accelerators");
  if (inside.gpus.empty() && known == nullptr) inside.gpus = "8";
  const std::string switches = value_of(network.given, "switches");
  const bool pairs = switches.empty() ? known != nullptr && known->switches == 0 : switches == "0";
  if (pairs != goal::nccl::node_preset(known != nullptr ? known->name : goal::nccl::kUsualNode).in_pairs)
    inside.pairs = pairs ? "true" : "false";
  return inside;
}

Inside inside_of(const Scenario& resolved) {
  const ModuleChoice& topology = resolved.topology;
  // What files describe, and models without a topology, may be nodes of anything.
  if (topology.empty() || is_from_file(topology)) return {};
  if (!has_gpu_nodes(resolved)) {
    const std::string ranks = value_of(resolved.hosts.given, "ranks_per_host");
    return {.known = true, .gpus = ranks.empty() ? "1" : ranks};
  }
  const std::vector<ModuleChoice> networks = topologies::host_networks(topology);
  const Inside first = inside_of_nodes(networks.front());
  // Sites with nodes of different kinds have no one answer.
  const bool alike = std::ranges::all_of(networks, [&](const ModuleChoice& each) {
    return is_of_nodes(each) && inside_of_nodes(each) == first;
  });
  return alike ? first : Inside{};
}

std::string profile_of(const Scenario& resolved) {
  const auto found = resolved.collectives.given.find("profile");
  return found == resolved.collectives.given.end() ? "" : found->second;
}

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string gpus_of(const std::string& node, const std::string& asked) {
  return asked.empty() ? std::to_string(goal::nccl::node_preset(node).gpus) : asked;
}

// NICs of a machine, all machines being alike.
struct Nics {
  std::uint32_t count = 0;  // 0: they aren't, or there are none
  Bandwidth rate;
};

Nics nics_of(const topologies::Topology& topology, bool of_nodes) {
  std::optional<Nics> all;
  const auto add = [&](std::span<const std::uint32_t> channels) {
    Nics nics{.count = static_cast<std::uint32_t>(channels.size())};
    for (const std::uint32_t c : channels) {
      const Bandwidth rate = topology.channels()[c].rate;
      if (nics.rate.bps() > 0 && rate != nics.rate) nics.count = 0;
      nics.rate = rate;
    }
    if (!all) all = nics;
    if (all->count != nics.count || all->rate != nics.rate) all->count = 0;
  };
  if (of_nodes) {
    for (const auto& [node, channels] : nics_of_domains(topology)) add(channels);
  } else {
    for (std::uint32_t host = 0; host < topology.hosts(); ++host)
      add(topology.out_channels(topology.host(host)));
  }
  return all.value_or(Nics{});
}

// What `profile` lacks for NCCL to count the NICs that the topology has: "" where they are those it takes.
std::string nic_settings(const ModuleChoice& profile, const Inside& inside,
                         const topologies::Topology& topology, bool of_nodes) {
  const bool has_count = !value_of(profile.given, "nics_per_node").empty();
  const bool has_rate = !value_of(profile.given, "nic_rate").empty();
  // GPUs that the user calls a node's bring the NICs of their hosts.
  if (has_count || has_rate || (!of_nodes && !value_of(profile.given, "gpus_per_node").empty())) return "";
  const Nics nics = nics_of(topology, of_nodes);
  if (nics.count == 0 || nics.count > 1024) return "";
  const topologies::NodePreset* const kind = topologies::find_node_preset(inside.node);
  const std::string kind_for_nccl = inside.node.empty() ? goal::nccl::kUsualNode : inside.node;
  const std::string asked = value_of(profile.given, "gpus_per_node");
  const std::string gpus = gpus_of(kind_for_nccl, asked.empty() ? inside.gpus : asked);
  if (!is_number(gpus)) return "";  // told where profiles are read
  const goal::nccl::Node node =
      goal::nccl::with_gpus(goal::nccl::node_preset(kind_for_nccl),
                            std::clamp<std::uint32_t>(std::strtoul(gpus.c_str(), nullptr, 10), 1, 1024));
  const double taken_rate =
      kind != nullptr ? static_cast<double>(std::min(kind->nic, kind->slot).bps()) : node.nic_gbs * 8e9;
  const auto is_same = [](double a, double b) { return std::abs(a / b - 1) < 0.01; };
  const auto rate = static_cast<double>(nics.rate.bps());
  // Ports of one NIC are one for NCCL.
  if (nics.count % node.nics == 0 && is_same(nics.count * rate, node.nics * taken_rate)) return "";
  std::string text = fmt::format(",nics_per_node={}", nics.count);
  if (!is_same(rate, taken_rate)) text += fmt::format(",nic_rate={}bps", nics.rate.bps());
  return text;
}

// Both say what a node is, and not the same.
void tell_contradictions(const ModuleChoice& profile, const Inside& inside, bool stand_alone,
                         std::vector<std::string>& warnings) {
  const std::string node = value_of(profile.given, "node"), gpus = value_of(profile.given, "gpus_per_node");
  if (!node.empty() && !inside.node.empty() && node != inside.node) {
    warnings.push_back(
        fmt::format("collectives.profile has nodes of {}, the topology {}: NCCL chooses for "
                    "the former on links of the latter",
                    node, inside.node));
  }
  if (!stand_alone || (node.empty() && gpus.empty())) return;
  const std::string taken = gpus_of(node.empty() ? goal::nccl::kUsualNode : node, gpus);
  if (taken == inside.gpus || !is_number(taken)) return;
  warnings.push_back(fmt::format(
      "NCCL takes {} consecutive ranks for GPUs of one node, as collectives.profile says, but each host of "
      "this topology stands alone: what NVLink would carry crosses the network; "
      "scale_up:of=[...] has nodes",
      taken));
}

}  // namespace

bool has_gpu_nodes(const Scenario& resolved) {
  return std::ranges::any_of(topologies::host_networks(resolved.topology), is_of_nodes);
}

bool is_nccl(std::string_view profile) { return profile.substr(0, profile.find(':')) == goal::kNcclProfile; }

std::string with_nccl_node(const std::string& profile, const Scenario& resolved,
                           const topologies::Topology* topology) {
  if (!is_nccl(profile)) return profile;
  const ModuleChoice choice = parse_module_choice(profile);
  const Inside inside = inside_of(resolved);
  const std::string node = value_of(choice.given, "node");
  const bool has_gpus = !value_of(choice.given, "gpus_per_node").empty();
  if (!inside.known || (!node.empty() && node != inside.node)) return profile;
  std::string text = profile;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{}{}={}", text.find(':') == std::string::npos ? ":" : ",", name, value);
  };
  if (topology != nullptr) {
    const std::string nics = nic_settings(choice, inside, *topology, has_gpu_nodes(resolved));
    if (!nics.empty()) text += (text.find(':') == std::string::npos ? ":" : ",") + nics.substr(1);
  }
  if (!node.empty()) return text;
  if (!inside.node.empty() && choice.given.count("node") == 0) add("node", inside.node);
  if (!inside.gpus.empty() && !has_gpus && choice.given.count("gpus_per_node") == 0)
    add("gpus_per_node", inside.gpus);
  if (!inside.pairs.empty() && choice.given.count("in_pairs") == 0) add("in_pairs", inside.pairs);
  return text;
}

std::string without_gpu_costs(const std::string& profile) {
  if (!is_nccl(profile)) return profile;
  ModuleChoice choice = parse_module_choice(profile);
  for (const ParameterSpec& cost : goal::nccl::gpu_parameters()) choice.given.erase(cost.name);
  choice.given["gpu"] = "none";
  std::string text;
  for (const auto& [name, value] : choice.given) {
    const bool several = value.find(',') != std::string::npos && !value.starts_with('[');
    text += fmt::format("{}{}={}", text.empty() ? ":" : ",", name, several ? "[" + value + "]" : value);
  }
  return choice.name + text;
}

void add_nccl_remarks(const Scenario& resolved, std::vector<std::string>& warnings) {
  const std::string profile = profile_of(resolved);
  if (!is_nccl(profile)) return;
  const ModuleChoice choice = parse_module_choice(profile);
  const Inside inside = inside_of(resolved);
  const bool stand_alone = inside.known && !has_gpu_nodes(resolved);
  tell_contradictions(choice, inside, stand_alone, warnings);
  if (!value_of(choice.given, "node").empty() || !inside.node.empty()) return;
  const std::string gpus = gpus_of(goal::nccl::kUsualNode, value_of(choice.given, "gpus_per_node").empty()
                                                               ? inside.gpus
                                                               : value_of(choice.given, "gpus_per_node"));
  const std::string why = stand_alone ? "hosts stand alone" : "neither profile nor topology says";
  warnings.push_back(
      fmt::format("NCCL's choices and channels are those of nodes of {} with {} GPU{} a node, as {}; "
                  "collectives.profile=nccl:node=...,gpus_per_node=... says other",
                  goal::nccl::kUsualNode, gpus, gpus == "1" ? "" : "s", why));
}

}  // namespace weft::sim
