// Links that fail, come back or get another rate while messages are under way.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/flow/flow_config.h"
#include "sim/flow/paths.h"
#include "sim/routing/table/routing_table.h"
#include "sim/units/quantity.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// What links carry changes at once, routes once these are worked out anew: where a link has gone or come
// back, and for policies that hear of rates at any change.
class LinkChanges {
 public:
  // What the setup names must outlive it.
  explicit LinkChanges(const FlowSetup& setup);

  // Tells when links or routes change next; Time::max(): no change is left.
  Time next() const;
  // All that is due at `now`. The paths are others from then on; they may refer to a table of this one's.
  void apply(Time now, Paths& paths);

 private:
  const std::vector<LinkShare> changes_;
  std::size_t next_change_ = 0;
  std::vector<Time> reroutes_;  // in the order of time
  std::size_t next_reroute_ = 0;
  std::vector<double> share_;                     // by channel: of the rate it was built with
  std::vector<bool> down_;                        // by link
  const topologies::Topology& routed_;            // FlowSetup::routed()
  const routing::RoutingTable& original_table_;   // with all links
  std::unique_ptr<routing::RoutingTable> table_;  // repaired; null: no link has failed
  const Time reconvergence_;
  const bool hears_rates_;  // of the policy: with the routes
};

}  // namespace weft::sim::flow
