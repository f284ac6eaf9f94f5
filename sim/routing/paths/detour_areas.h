// Which hosts the detours of a pair go by: any, or those of the pair's own group of switches.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/paths/host_groups.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// What a group of hosts sends to another.
struct DetourPair {
  std::uint32_t from = 0, to = 0;  // groups
  double offered = 0;              // in the unit of capacities
  double detoured = 0;             // the share that goes by detours
};

// Groups are those of HostGroups; an area is a linked group of switches, where the model keeps detours within
// these (PathModel::detours_within_groups). Else no pair is within one.
class DetourAreas {
 public:
  DetourAreas(const topologies::Topology& topology, const PathModel& model, const HostGroups& groups)
      : groups_(groups), hosts_(topology.hosts()) {
    if (!topology.linked_groups() || !model.detours_within_groups()) return;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      area_.push_back(topology.node(groups.homes(g).front()).group);
      if (hosts_of_.size() <= area_[g]) hosts_of_.resize(area_[g] + 1);
      hosts_of_[area_[g]] += static_cast<std::uint32_t>(groups.hosts(g).size());
    }
  }

  bool any() const { return !area_.empty(); }
  // Whether a pair's detours are by hosts of its own area only.
  bool is_within(std::uint32_t from, std::uint32_t to) const { return any() && area_[from] == area_[to]; }
  // What a group has within its area and what it has elsewhere are told apart: numbers by group and which.
  static std::uint32_t key(std::uint32_t group, bool within) { return 2 * group + (within ? 1 : 0); }
  std::uint32_t sender_of(const DetourPair& pair) const {
    return key(pair.from, is_within(pair.from, pair.to));
  }
  std::uint32_t receiver_of(const DetourPair& pair) const {
    return key(pair.to, is_within(pair.from, pair.to));
  }
  // That a detour of this group's goes by a host of `via`.
  double odds(std::uint32_t via, std::uint32_t group, bool within) const {
    if (within && area_[via] != area_[group]) return 0;
    return static_cast<double>(groups_.hosts(via).size()) / middles(group, within);
  }
  // The part of a pair's detours that are none, as they would lead by a switch of its hosts' own.
  double near(std::uint32_t from, std::uint32_t to) const {
    return static_cast<double>(groups_.hosts_near(from, to)) / middles(from, is_within(from, to));
  }

 private:
  double middles(std::uint32_t group, bool within) const { return within ? hosts_of_[area_[group]] : hosts_; }

  const HostGroups& groups_;
  const std::uint32_t hosts_;
  std::vector<std::uint32_t> area_, hosts_of_;  // by group; hosts by area
};

}  // namespace weft::routing
