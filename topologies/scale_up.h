// Nodes of several accelerators with a network of their own, in place of another network's hosts.
#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// A scale-up domain (DGX, NVL72) for every host of another network, or a single one without. Each of the
// node's `accelerators` is a host with a router inside, since it can hand on what comes from another. Its
// `inner_links` are dealt to the node's `switches` in turn; with switches=0 the accelerators are linked in
// pairs instead. Every link of the host replaced becomes `nics` links, which the accelerators get in turn:
// link l goes to accelerator l mod accelerators. Accelerators are numbered by node, then inner switches, then
// the other network's switches, one tier up. A node is a group.
Family scale_up_family();

}  // namespace weft::topologies
