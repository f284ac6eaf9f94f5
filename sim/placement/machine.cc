#include <algorithm>

#include "sim/placement/placement.h"

namespace weft::placement {

Machine idle_machine(const topologies::Topology& topology) {
  return {topology, std::vector<HostState>(topology.hosts(), HostState::kFree)};
}

std::uint32_t free_hosts(const Machine& machine) {
  return static_cast<std::uint32_t>(std::count(machine.state.begin(), machine.state.end(), HostState::kFree));
}

std::uint32_t sound_hosts(const States& states) {
  return static_cast<std::uint32_t>(states.size()) -
         static_cast<std::uint32_t>(std::count(states.begin(), states.end(), HostState::kFailed));
}

}  // namespace weft::placement
