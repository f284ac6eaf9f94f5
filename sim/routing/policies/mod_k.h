#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// D-mod-k in trees: on its way up a packet takes, at a switch of tier l, of the u_l links upwards that of
// number floor(d / (u_1 u_2 ... u_(l-1))) mod u_l, with d the number of its destination; parallel links down
// are chosen alike. So all that goes to a host meets in one tree, and shift permutations meet nowhere.
// S-mod-k: by the source. One path for each pair of hosts, ACKs included.
//
// Trees have hosts at tier 1 and links between neighbouring tiers only; switches of a tier have equally many
// links upwards. Others are refused.
Policy d_mod_k();
Policy s_mod_k();

}  // namespace weft::routing
