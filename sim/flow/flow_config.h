// What the flow-level network is made of: its settings, and the topology, table and policy it runs over.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/network.h"
#include "sim/flow/division.h"
#include "sim/flow/max_min.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

using routing::NicChoice;  // which of a host's links, its NICs, a message takes; not kLeastLoaded

// Defaults are those of the module's parameters (flow_module()).
struct FlowConfig {
  std::uint32_t mtu_bytes = 4096;
  std::uint32_t header_bytes = 64;
  Bandwidth local_bandwidth = Bandwidth::gbps(800);
  Time local_latency = Time::ns(200);
  Time send_delay, receive_delay, host_delay;  // as of the packet network
  NicChoice nic_choice = NicChoice::kLibrary;
  bool cut_through = false;
  Time reconvergence = Time::us(1000);
  Bandwidth max_rate;              // of one message, headers included; 0: no limit
  std::uint64_t window_bytes = 0;  // at most so much in a round trip; 0: no limit
  bool equal_shares = true;        // false: in inverse proportion to round trips
  double tolerance = 0;            // of the level of a link's flows, 0 to 0.1
  bool record_flows = true;
  ConnectionRules connections;
};

// The model as users name it, and its settings from checked parameters. Throws InputError for sizes that make
// no sense.
const ModuleInfo& flow_module();
FlowConfig flow_config(const Parameters& parameters);

// From `at` on a link has this share of the rate it was built with; 0: it is down.
struct LinkShare {
  Time at;
  std::uint32_t link = 0;
  double share = 1;
  std::uint8_t directions = 3;  // bit d: channel 2 × link + d
  bool known = false;           // LinkChange::known
};

// Topology, table and policy must outlive the network.
struct FlowSetup {
  const topologies::Topology& topology;
  const routing::RoutingTable& table;
  const routing::Policy& policy;
  FlowConfig config;
  std::vector<LinkShare> changes = {};  // in the order of time
  PathMaker make_paths = {};            // for a policy with a path model of its own
  // Says which of the topology's NICs lead where; null: they all lead everywhere. It must outlive the
  // network.
  const routing::NicNetwork* nics = nullptr;

  // What messages are routed over.
  const topologies::Topology& routed() const { return nics != nullptr ? nics->topology() : topology; }
  const routing::RoutingTable& routes() const { return nics != nullptr ? nics->table() : table; }
};

inline Rate to_rate(Bandwidth bandwidth) {
  return bandwidth.bps() > kMostRate >> kRateBits ? kMostRate : bandwidth.bps() << kRateBits;
}

}  // namespace weft::sim::flow
