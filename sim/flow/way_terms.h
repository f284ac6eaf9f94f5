// What follows from the way that a message takes: when it is there, and which rate it may have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/flow/flow_config.h"
#include "sim/flow/flow_pool.h"
#include "sim/flow/fluids.h"
#include "sim/flow/paths.h"
#include "sim/units/quantity.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

class WayTerms {
 public:
  // All must outlive it. Throws InputError for links that are too slow.
  WayTerms(const topologies::Topology& topology, const FlowConfig& config, Paths& paths,
           const Fluids& fluids);

  // Finds the way through the network as it is now. If it is open, sets the flow's latency, that of its
  // acknowledgement if its sender waits for one and, where it has none yet, its time in a network without
  // others; of handshakes always.
  Terms find(Flow& flow, Way& way);

 private:
  Time latency_of(const Flow& flow, std::span<const std::uint32_t> hops) const;
  Time round_trip(std::span<const std::uint32_t> hops) const;
  Time answer(std::span<const std::uint32_t> hops) const;
  Rate rate_alone(const Flow& flow, const Way& way, Rate cap);

  const topologies::Topology& topology_;
  const FlowConfig& config_;
  Paths& paths_;
  const Fluids& fluids_;
  // By channel: propagation and pipeline; a full packet and a header on the wire.
  std::vector<Time> delay_, full_packet_, header_;
  Way alone_;  // of the flow at hand, if nobody else sent
};

}  // namespace weft::sim::flow
