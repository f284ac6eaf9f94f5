// Which hosts belong together: on a switch, in a group, a rack, a plane, a site. What placements and others
// go by that treat such units alike, whatever the family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// kSwitch: linked to the same switch, or set of switches. kGroup: what the family makes a group: a
// dragonfly's group, a fat tree's pod, a HammingMesh's board, a rail unit, a segment, a cube, a cell, a node
// of several accelerators; where a family has none, all hosts of a switch (Node::group). kRack: Node::rack,
// of the host or its first switch.
enum class HostUnit : std::uint8_t { kSwitch, kGroup, kRack, kPlane, kSite };

// "switch", "group", …: in the order of the enumeration.
const std::vector<std::string>& host_unit_names();

// Hosts by unit; units are numbered in the order of their first hosts.
struct HostUnits {
  std::vector<std::uint32_t> of;  // by host
  std::uint32_t count = 0;
  // Why such units tell nothing here: all hosts are in one, or each is one of its own. A clause; "": they do.
  std::string missing = {};

  // The hosts of each, ascending.
  std::vector<std::vector<std::uint32_t>> members() const;
};
HostUnits host_units(const Topology& topology, HostUnit unit);

}  // namespace weft::topologies
