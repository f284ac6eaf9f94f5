// From what a scenario says of connections to what networks get of it.
#pragma once

#include <cstdint>

#include "sim/core/network.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Gives 1 where each message has its own connection.
std::uint32_t connections_per_pair(const Scenario& scenario);
// For the network. Throws InputError for more than 2^31 connections between two hosts.
ConnectionRules connection_rules(const Scenario& scenario);

// Whether a message goes through one NIC on this network, whatever library sends it, as on Slingshot: where
// UCX would divide it, De Sensi et al. (Bine trees, 2025) measured one NIC's rate on LUMI.
bool sends_by_one_nic(const Scenario& scenario);

}  // namespace weft::sim
