#include "topologies/machines/machine.h"

#include <fmt/core.h>

#include <utility>

#include "topologies/families/clos.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostLinks = 1024;

}  // namespace

std::vector<ParameterSpec> machine_parameters(const MachineDefaults& defaults) {
  std::vector<ParameterSpec> own = {
      {"groups", ParameterType::kInteger, "auto",
       fmt::format("Build so many of its {}, from the first; auto: all.", defaults.groups)},
  };
  if (*defaults.links_per_pair != 0) {
    own.push_back({"links_per_pair", ParameterType::kInteger, defaults.links_per_pair,
                   fmt::format("Links between every two {}.", defaults.groups)});
  }
  return with_cabling(std::move(own), {.link = defaults.link,
                                       .host_link = defaults.host_link,
                                       .latency = defaults.latency,
                                       .switch_latency = defaults.switch_latency});
}

std::uint32_t machine_groups(const Parameters& parameters, std::uint32_t all) {
  return count_parameter(parameters, "groups", all, all);
}

void note_published(Topology& topology, std::string_view machine, std::string_view part) {
  topology.add_note(
      fmt::format("{0} is made of published counts; `weft describe {0}` tells what of {1} is known, and what "
                  "assumed",
                  machine, part));
}

MachineBuilder::MachineBuilder(const ModuleInfo& info, const Parameters& parameters)
    : parameters_(parameters),
      cabling_(read_cabling(parameters)),
      topology_(to_short_form(info.name, parameters)) {
  note_published(topology_, info.name, "its cabling");
}

void MachineBuilder::add_group(const MachineGroup& group, std::uint32_t per_spine) {
  const auto number = static_cast<std::uint32_t>(borders_.size());
  const auto add = [&](const MachineSwitch& each, std::uint8_t tier) {
    const Vertex v = topology_.add_switch(each.name, tier, number, cabling_.switch_latency);
    topology_.set_rack(v, each.rack);
    return v;
  };
  std::vector<Vertex> leaves, spines;
  for (const MachineSwitch& each : group.leaves) leaves.push_back(add(each, 1));
  for (const MachineSwitch& each : group.spines) spines.push_back(add(each, 2));
  for (const MachineHost& each : group.hosts) {
    const Vertex host = topology_.add_host(each.name, number);
    topology_.set_rack(host, group.leaves[each.leaves[0]].rack);
    for (const std::uint32_t leaf : each.leaves) topology_.add_link(host, leaves[leaf], cabling_.host);
  }
  for (std::size_t a = 0; a < leaves.size(); ++a) {
    for (const Vertex spine : spines) {
      for (std::uint32_t i = 0; i < per_spine; ++i) topology_.add_link(leaves[a], spine, cabling_.fabric);
    }
    for (std::size_t b = a + 1; b < leaves.size() && spines.empty(); ++b) {
      topology_.add_link(leaves[a], leaves[b], cabling_.fabric);
    }
  }
  borders_.push_back(spines.empty() ? std::move(leaves) : std::move(spines));
}

void MachineBuilder::link_groups(std::uint32_t all) {
  const std::uint64_t per_pair = count_parameter(parameters_, "links_per_pair", kMostLinks);
  for (std::size_t a = 0; a < borders_.size(); ++a) {
    for (std::size_t b = a + 1; b < borders_.size(); ++b) {
      for (std::size_t i = 0; i < per_pair; ++i) {
        // Seen from a, group b is the (b - 1)-th of the other groups; seen from b, group a is the a-th.
        const Vertex from = borders_[a][((b - 1) * per_pair + i) % borders_[a].size()];
        const Vertex to = borders_[b][(a * per_pair + i) % borders_[b].size()];
        topology_.add_link(from, to, cabling_.fabric);
      }
    }
  }
  topology_.set_linked_groups();
  const std::uint64_t built = borders_.size();
  if (built >= all) return;
  topology_.add_assumption(fmt::format("{} of {} groups: each has {} of {} links to other groups", built, all,
                                       (built - 1) * per_pair, (all - 1) * per_pair));
}

void MachineBuilder::add_cores(std::uint32_t count, std::uint32_t uplinks) {
  std::vector<Vertex> cores, below;
  const auto group = static_cast<std::uint32_t>(borders_.size());
  for (std::uint32_t c = 0; c < count; ++c) {
    cores.push_back(topology_.add_switch(fmt::format("core {}", c), 3, group, cabling_.switch_latency));
  }
  for (const std::vector<Vertex>& spines : borders_) below.insert(below.end(), spines.begin(), spines.end());
  link_tiers(topology_, below, cores, uplinks, cabling_.fabric);
}

Topology MachineBuilder::finish() {
  topology_.finish();
  return std::move(topology_);
}

}  // namespace weft::topologies
