// Nodes of several accelerators that jobs share: messages of one don't go over accelerators of another.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/replay/jobs.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// The network in which no accelerator relays to its NIC what another one sends (Node::relays). Routes don't
// know whose an accelerator is.
struct NetworkOfSharers {
  explicit NetworkOfSharers(const topologies::Topology& all);

  topologies::Topology topology;
  routing::RoutingTable table;
};

// Gives it where accelerators would relay, and some job on several nodes shares one with another job; adds a
// sentence then. Null: there is no such job, nor a topology (null).
std::unique_ptr<const NetworkOfSharers> network_of_sharers(const topologies::Topology* topology,
                                                           std::span<const ReplayJob> jobs,
                                                           std::vector<std::string>& warnings);

}  // namespace weft::sim
