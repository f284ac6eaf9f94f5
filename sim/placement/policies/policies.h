// The list of placement policies, and a job placed by one of them.
#pragma once

#include <span>

#include "sim/placement/placement.h"

namespace weft::placement {

// Those built in, `packed` first: the default; behind them those of plug-ins.
std::span<const Policy> policies();
// See ModuleList::add().
void add_policy(Policy policy);

// The chosen one; the first if `chosen` is empty. Throws InputError for one that is not known.
const Policy& policy_of(const ModuleChoice& chosen);
// Places a job as `chosen` says, by the first policy if that is empty. Every host of the outcome is free and
// has no more ranks than the job lets it have: whatever a policy of a plug-in does. Throws InputError for an
// unknown policy, for parameters that make no sense, for a policy that isn't defined on this network or
// doesn't know what it needs of the job, and for a job that would not fit the machine if no other were there.
// REQUIRES: ranks and ranks_per_node are 1 or more; a state for each host.
Outcome place(const ModuleChoice& chosen, const Request& request, const Machine& machine);

}  // namespace weft::placement
