#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Two-level folded Clos: every leaf is linked to every spine. With R the links from a leaf up and H its
// hosts, the oversubscription is H·host_link : R·link.
Family leaf_spine();

}  // namespace weft::topologies
