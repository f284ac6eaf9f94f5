// How many of hosts' NICs a run has used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/results/report.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Lists the channels that leave a machine of several accelerators, all together: by domain.
std::map<std::uint32_t, std::vector<std::uint32_t>> nics_of_domains(const topologies::Topology& topology);

// Fills in Report::nics_used from Report::links, which has a row for each channel of the topology, and adds a
// warning if NICs were idle beside others of the same host that were not, equally fast ones or faster ones.
// `choice`: the setting that decides it, as "network.packet.nic_choice=near".
void tell_nics_used(const topologies::Topology& topology, const std::string& choice, results::Report& report);

}  // namespace weft::sim
