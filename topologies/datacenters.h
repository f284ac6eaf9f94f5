// Datacenters joined by long links.
#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Two or more networks (sites), alike or not, each with `borders` border switches one tier above its own. A
// border switch has `border_links` links into its site, spread evenly over the switches of the site's highest
// tier; they have the rate and latency of those switches' first links. Between two sites that `shape` joins
// there are `long_links` links of `long_rate`, dealt to the border switches of both in turn; each takes
// `long_latency` and loses a packet with probability `loss`.
//
// Hosts and switches are numbered by site, a site's border switches after its others. Groups and racks of
// different sites differ; a site's border switches are a group of their own. Long links are as long as light
// in fibre goes in `long_latency`. Shape and figures of an example: T. Bonato et al., Uno: a one-stop
// solution for inter- and intra-datacenter congestion control and reliable connectivity, SC 2025.
Family datacenters_family();

}  // namespace weft::topologies
