// The list of routing policies.
#pragma once

#include <span>

#include "sim/routing/routing.h"

namespace weft::routing {

// Those built in, and behind them those of plug-ins.
std::span<const Policy> policies();
// See ModuleList::add().
void add_policy(Policy policy);

}  // namespace weft::routing
