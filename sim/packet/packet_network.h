// The packet-level network: every packet and every ACK of every message, through every queue on its way.
#pragma once

#include <string>
#include <vector>

#include "congestion/congestion.h"
#include "sim/core/network.h"
#include "sim/packet/fabric.h"
#include "sim/packet/queues.h"
#include "sim/packet/transport.h"
#include "sim/results/records.h"
#include "sim/results/series.h"
#include "sim/routing/routing.h"
#include "sim/routing/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// The model as users name it, `--network packet:mtu=4096`, and its settings from checked parameters. Throws
// InputError for sizes that make no sense.
const ModuleInfo& packet_module();
PacketConfig packet_config(const Parameters& parameters);

// What a network is made of. Topology and table are not copied and must outlive it; so must the three
// modules.
struct PacketSetup {
  const topologies::Topology& topology;
  const routing::RoutingTable& table;
  const routing::Policy& policy;
  Parameters policy_parameters;
  const congestion::Control& control;
  Parameters control_parameters;
  const Discipline& queue;
  Parameters queue_parameters;
  PacketConfig config;
};

// The model is written down in this folder's README.md.
class PacketNetwork final : public Network, public results::Reporter, public results::SeriesSource {
 public:
  // Throws InputError if parameters make no sense.
  PacketNetwork(Engine& engine, NetworkClient& client, const PacketSetup& setup);

  // on_delivered comes with the last packet's last bit, on_sent when everything is acknowledged. Throws
  // InputError for a message of more than 2^32 packets. REQUIRES: host numbers of the topology. NIC numbers
  // are taken modulo the host's links.
  void inject(const Message& message) override { transport_.start(message); }
  // Each message is a flow of its own and may take its own path.
  bool delivers_in_order() const override { return false; }
  StopReason run(RunControl& control) override;

  results::NetworkTotals totals() const override;
  std::vector<results::Link> links() const override;
  // One per delivered message; empty if PacketConfig::record_flows is off.
  std::vector<results::Flow> flows() const override { return transport_.flows(); }

  // For checkers and logs; may be set before run(). Not owned.
  void set_observer(Observer* observer) { fabric_.set_observer(observer); }
  // Takes samples while it runs; may be set before run(). Not owned.
  void set_series(results::Series* series) { series_ = series; }
  results::NetworkState network_state() const override;
  void link_states(Time now, std::span<const std::uint32_t> links,
                   std::span<results::LinkState> states) const override;
  // Messages not yet acknowledged to the last byte.
  std::uint64_t open_flows() const { return transport_.open_flows(); }
  // The most packets there were on their way at once.
  std::size_t most_packets() const { return fabric_.packets().most_used(); }
  // Round trip of a full packet without queueing between the hosts farthest apart (seen from host 0).
  Time longest_round_trip() const { return longest_round_trip_; }

 private:
  const topologies::Topology& topology_;
  Engine& engine_;
  NetworkClient& client_;
  Fabric fabric_;
  Time longest_round_trip_;
  Transport transport_;
  results::Series* series_ = nullptr;
};

}  // namespace weft::sim::packet
