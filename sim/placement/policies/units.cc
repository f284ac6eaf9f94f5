#include "sim/placement/policies/units.h"

#include <algorithm>

#include "sim/placement/policies/nodes.h"

namespace weft::placement {

ParameterSpec unit_parameter(const std::string& name, const std::string& by_default,
                             const std::string& help) {
  return {name, ParameterType::kText, by_default, help + ".",
          Limits{.one_of = topologies::host_unit_names()}};
}

topologies::HostUnit read_unit(const Parameters& parameters, const std::string& name) {
  return static_cast<topologies::HostUnit>(choose_word(parameters, name, topologies::host_unit_names()));
}

std::string unit_refusal(const Parameters& parameters, const std::string& name,
                         const topologies::Topology& topology) {
  return topologies::host_units(topology, read_unit(parameters, name)).missing;
}

FreeUnits free_units(const Machine& machine, topologies::HostUnit unit) {
  FreeUnits units = topologies::host_units(machine.topology, unit).members();
  for (std::vector<std::uint32_t>& members : units) {
    std::erase_if(members, [&](std::uint32_t h) { return !machine.is_free(h); });
  }
  std::erase_if(units, [](const std::vector<std::uint32_t>& members) { return members.empty(); });
  return units;
}

FreeUnits best_fit(FreeUnits units, std::uint32_t needed) {
  // From small to large, so that both the best fit and the largest are found at once.
  std::stable_sort(units.begin(), units.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  FreeUnits chosen;
  while (needed > 0) {
    auto fits = std::lower_bound(units.begin(), units.end(), needed,
                                 [](const auto& unit, std::uint32_t count) { return unit.size() < count; });
    if (fits == units.end()) {
      const std::size_t most = units.back().size();
      fits = std::lower_bound(units.begin(), units.end(), most,
                              [](const auto& unit, std::size_t count) { return unit.size() < count; });
    }
    needed -= std::min(needed, static_cast<std::uint32_t>(fits->size()));
    chosen.push_back(std::move(*fits));
    units.erase(fits);
  }
  return chosen;
}

std::vector<std::uint32_t> take(const FreeUnits& units, std::uint32_t needed) {
  std::vector<std::uint32_t> nodes;
  for (const std::vector<std::uint32_t>& unit : units) {
    for (const std::uint32_t h : unit) {
      if (nodes.size() < needed) nodes.push_back(h);
    }
  }
  return nodes;
}

}  // namespace weft::placement
