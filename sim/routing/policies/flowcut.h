#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Flowcut switching: a flow may change its path only when none of its packets is under way, so that they
// arrive in the order they were sent in, on any network. README.md says how, and why that holds.
Policy flowcut();

}  // namespace weft::routing
