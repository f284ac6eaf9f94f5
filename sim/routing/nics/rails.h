// How what one host sends to another is divided over their NICs: what runs do, told without one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/nic_rule.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/nics/nic_network.h"
#include "topologies/analysis/demands.h"

namespace weft::routing {

// Tells which part of what a host sends to another leaves through one NIC for one of the other's.
struct Rail {
  std::uint32_t source = 0, destination = 0;
  double share = 1;
};

// Takes hosts to have one rank each, whose messages are large enough to be divided. Choices that take the
// next NIC for each message come to even shares. `use`: what ranks make of their own NICs (rail_use()).
// REQUIRES: not kSpray, where paths say which NICs packets take.
std::vector<Rail> rails_between(const NicNetwork& network, NicChoice choice, const sim::RailUse& use,
                                std::uint32_t from, std::uint32_t to);

// Gives the traffic between the endpoints of a network that is unfolded, scaled so that the busiest NIC is
// full. Pairs of hosts are written out: REQUIRES rail_entries() that memory has room for.
topologies::HostTraffic over_nics(const topologies::HostTraffic& traffic, const NicNetwork& network,
                                  NicChoice choice, const sim::RailUse& use);
// So many entries it has at most.
double rail_entries(const topologies::HostTraffic& traffic, const NicNetwork& network);

}  // namespace weft::routing
