// Nodes of several accelerators with a network of their own, in place of another network's hosts.
#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// A scale-up domain (DGX, NVL72) for every host of another network, or a single one without: a preset `node`
// (node_presets.h), of which given parameters replace parts. Each of the node's `accelerators` is a host with
// a router inside, since it can hand on what comes from another. Its `inner_links` lead to the node's
// `switches`; with switches=0 the accelerators are linked in pairs instead, by so many each. As NVSwitches
// stripe the bytes of a pair over all links, the switches are one, and an accelerator's links to it, or to
// another, are one of their joint rate; without `striping` they are apart, and dealt in turn. All of a node
// is a domain (Node::domain), inside of which its own messages stay. Every link of the host replaced becomes
// `nics` links, which the accelerators get in turn: link l goes to accelerator l mod accelerators.
// Accelerators are numbered by node, then inner switches, then the other network's switches, one tier up. A
// node is a group.
Family scale_up_family();

}  // namespace weft::topologies
