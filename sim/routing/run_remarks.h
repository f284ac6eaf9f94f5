// What the results of a run say of its routing policy, in every network model.
#pragma once

#include <string>
#include <vector>

#include "sim/routing/routing.h"

namespace weft::routing {

// What of a run makes a difference to that.
struct RunTraits {
  bool has_packets = true;
  bool rates_change = false;  // a link is slowed down, or comes back from that, while the run goes on
};

// One sentence each, in a fixed order: parameters that have no effect, what the policy says of itself on this
// network, what it doesn't make of the run's faults. `policy`: as it is with the parameters of `setup`.
// Throws as Policy::remark does.
std::vector<std::string> run_remarks(const Policy& policy, const PlanSetup& setup, const RunTraits& traits);

}  // namespace weft::routing
