// Where a message leaves its host and comes to the other, and its draw among paths.
#pragma once

#include <cstdint>

#include "sim/core/network.h"
#include "sim/flow/flow_config.h"
#include "sim/flow/paths.h"
#include "sim/routing/nics/nic_choice.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

class Trips {
 public:
  // What the setup names must outlive it.
  Trips(const FlowSetup& setup, std::uint64_t seed);

  // `identity`: of what keeps to one trip (sim/routing/path_draws.h). Throws InputError if the message names
  // a NIC without a way to its destination.
  Trip make(const Message& message, std::uint64_t identity);

 private:
  void choose_nics(const Message& message, Trip& trip);
  std::uint32_t nics_of(std::uint32_t host) const {
    return static_cast<std::uint32_t>(topology_.out_channels(topology_.host(host)).size());
  }

  const topologies::Topology& topology_;
  const std::uint64_t seed_;
  const bool sprays_;  // over all NICs
  const NicChoice choice_;
  routing::NicPicker nics_;  // of FlowSetup::nics
};

}  // namespace weft::sim::flow
