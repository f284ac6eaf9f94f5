// Links that fail, come back or get another rate while messages are under way.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/core/due_times.h"
#include "sim/flow/flow_config.h"
#include "sim/flow/paths.h"
#include "sim/results/busy_times.h"
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

  // How long a channel was occupied by so many bytes; the highest rate that it had.
  Time busy(std::uint32_t channel, std::uint64_t bytes) const;
  Bandwidth highest_rate(std::uint32_t channel) const;

 private:
  Bandwidth rate(std::uint32_t channel) const;
  void settle(Time now, const Paths& paths);

  const topologies::Topology& topology_;
  const std::vector<LinkShare> changes_;
  std::size_t next_change_ = 0;
  DueTimes reroutes_;
  std::vector<double> share_;  // by channel: of the rate it was built with
  std::vector<bool> down_;     // by link
  results::BusyTimes busy_times_;
  const topologies::Topology& routed_;            // FlowSetup::routed()
  const routing::RoutingTable& original_table_;   // with all links
  std::unique_ptr<routing::RoutingTable> table_;  // repaired; null: no link has failed
  const Time reconvergence_;
  const bool hears_rates_;  // of the policy: with the routes
};

}  // namespace weft::sim::flow
