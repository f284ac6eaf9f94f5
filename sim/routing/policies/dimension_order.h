#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Dimension order: a packet corrects its coordinates one after the other, the first dimension first, on
// shortest ways; among equal ones (parallel links, both ways around a ring) a hash of its entropy decides, so
// each flow keeps one path. For grids that the family declares (Topology::set_grid) and whose links change
// one coordinate each; others are refused.
//
// Virtual channels, with queue discipline credit:selection=routed: a packet enters every dimension in channel
// 0 and goes on in channel 1 from the link between a ring's last coordinate and its first on (the dateline:
// W. J. Dally, C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection networks, IEEE
// Trans. Computers C-36(5), 1987). Two channels suffice for tori, one for grids without such links.
Policy dimension_order();

}  // namespace weft::routing
