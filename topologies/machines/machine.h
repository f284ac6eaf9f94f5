// Real machines as networks: groups of switches with the hosts on them, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

struct MachineHost {
  std::string name;                   // as Slurm has it
  std::vector<std::uint32_t> leaves;  // for each NIC the switch it is on, by place in MachineGroup::leaves
};

struct MachineSwitch {
  std::string name;
  std::uint32_t rack = kNoRack;
};

// A cell, cabinet or island. Without spines its leaves are linked with each other, every two by a link; with
// spines each leaf is linked to each spine.
struct MachineGroup {
  std::vector<MachineSwitch> leaves, spines;
  std::vector<MachineHost> hosts;
};

// The values that a machine has where other networks have the defaults of cabling.
struct MachineDefaults {
  const char* groups = "";          // what its groups are, in words: "cells"
  const char* links_per_pair = "";  // links between two groups; "": they have none
  const char* link = "";
  const char* host_link = "";
  const char* latency = "50ns";  // 10 m of cable
  const char* switch_latency = "";
};

// `groups`, `links_per_pair` if it has those, and cabling.
std::vector<ParameterSpec> machine_parameters(const MachineDefaults& defaults);

// The parameter `groups`: how many of the machine's `all` are to be built, from the first.
std::uint32_t machine_groups(const Parameters& parameters, std::uint32_t all);

// Notes that the machine is made of published counts, and where to read what of it, or of a part, is known.
void note_published(Topology& topology, std::string_view machine, std::string_view part);

class MachineBuilder {
 public:
  MachineBuilder(const ModuleInfo& info, const Parameters& parameters);

  // Numbered in the order of the calls; `per_spine` links from each leaf to each spine. Leaves without hosts
  // are built too.
  void add_group(const MachineGroup& group, std::uint32_t per_spine = 1);
  // `links_per_pair` links between every two groups: between spines, or leaves where there are none. Those of
  // a group are dealt in turn to its switches, in the order of the other groups. If there are fewer groups
  // than the machine has in `all`, the network says what that leaves each.
  void link_groups(std::uint32_t all);
  // Top switches, `count` of them, over the spines of all groups, with `uplinks` links from each spine.
  void add_cores(std::uint32_t count, std::uint32_t uplinks);
  Topology finish();

 private:
  const Parameters& parameters_;
  Cabling cabling_;
  Topology topology_;
  std::vector<std::vector<Vertex>> borders_;  // of each group: the switches with links to others
};

}  // namespace weft::topologies
