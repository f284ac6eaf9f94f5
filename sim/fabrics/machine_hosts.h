// What the hosts of real machines cost, and the MPI library that programs have there.
#pragma once

#include <span>
#include <string_view>

namespace weft::fabrics {

// What machines of one kind have in common.
struct HostCosts {
  // As the parameters of hosts with these names.
  std::string_view o, O = "0", reduction_per_byte, reduction_from_memory = "0";
  std::string_view copy_per_byte = "0", copy_from_memory = "0";
  std::string_view library;        // in words
  std::string_view profile;        // of its collectives
  std::string_view protocol;       // over that network, in short form
  std::string_view source, doubt;  // whole sentences
};

struct MachineHosts {
  std::string_view family;  // of topologies
  const HostCosts* costs;
};

// Those of topologies/machines.
std::span<const MachineHosts> machine_hosts();
// What is taken for processors of which nothing is known.
const HostCosts& processor_costs();
// Null of families that aren't machines.
const HostCosts* host_costs(std::string_view family);

}  // namespace weft::fabrics
