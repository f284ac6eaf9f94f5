#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Minimal routing as papers on hierarchical networks mean it: where groups are linked as in a dragonfly
// (Topology::set_linked_groups()), as few links between groups as can be, which is one at most, then as few
// links (GroupRoutes); never through a third group, though that may be as short. Elsewhere, and where links
// that are down leave no such way, shortest paths. Each flow keeps one path; equal ones are hashed as by
// ecmp.
Policy minimal();

}  // namespace weft::routing
