// The faults of a scenario as changes of single links.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/link_change.h"
#include "sim/results/report.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Every moment at which the state of a link changes, in the order of time and then of links; only real
// changes, from links as they were built. Where faults of one link overlap it is down if one of them says so,
// else their rates multiply and their bit error rates add (to less than 1). Of a link whose two directions
// are not alike each has changes of its own. Throws InputError for names that the topology does not have, for
// more random links than there are, for one direction that is to go down, and where a link would be slower
// than kLeastRate.
std::vector<LinkChange> plan_faults(const Scenario& resolved, const topologies::Topology& topology);

// A sentence for each host (the first few, and how many more) whose cables are all down at that time, which
// names one of them.
std::vector<std::string> cut_off_hosts(const topologies::Topology& topology,
                                       std::span<const LinkChange> changes, Time until);
// A sentence for each fault that changed nothing in a run that ended then, and for each value of one that had
// no effect.
std::vector<std::string> idle_faults(const Scenario& resolved, Time end);
// The links that are down for some time before then, the longest first.
std::vector<results::Outage> outages(const topologies::Topology& topology,
                                     std::span<const LinkChange> changes, Time until);

}  // namespace weft::sim
