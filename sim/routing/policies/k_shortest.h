#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Source routes over ways that need not be minimal, each connection's or packet's own. The ways of two hosts
// follow from the seed and the switches they are on; they have twice as many switches at most as the longest
// shortest one in the network, and no more than a source route can name (networks with longer ones are
// refused when a connection needs one). `per=flow`: a connection takes one of them for good, with equal odds,
// and keeps its order; `per=packet`: all in turn. ACKs follow the built-in rule.
//
// A way never comes to a switch twice: with credit:selection=by_hop as many virtual channels as the longest
// has links between switches exclude circles.

// The `k` shortest ways, as Jellyfish's authors route it.
Policy k_shortest();
// `k` ways that share no link between switches, in all as short as can be; fewer where there are no more.
Policy edge_disjoint();

}  // namespace weft::routing
