// Splits a network into parts that different threads can simulate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/units/quantity.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

inline constexpr std::uint32_t kMostParts = 1024;

struct Partitioning {
  std::vector<std::uint16_t> of_vertex;  // part of each vertex; numbered from 0 in order of first appearance
  std::uint32_t parts = 0;               // none is empty
  Time lookahead = Time::max();          // least latency of a channel that is cut; max() if none is
  std::uint64_t cut_channels = 0;        // channels between different parts
};

// At most `parts` parts with nearly the same expected number of packet events each and little traffic between
// them; fewer where the network has no more to give. Links without latency are never cut. Hosts stay with
// their switch, and links much shorter than the longest stay whole, unless the parts would be out of balance.
// `host_load` as for expected_traffic (traffic.h). The same arguments give the same result.
// Method: repeated bisection with METIS; G. Karypis and V. Kumar, A fast and high quality multilevel scheme
// for partitioning irregular graphs, SIAM J. Scientific Computing 20(1), 1998. METIS draws from the C
// library's rand(): not to be called by two threads at a time. Throws InputError unless 1 <= parts <=
// kMostParts, and for bad loads.
Partitioning partition(const Topology& topology, std::uint32_t parts, std::span<const double> host_load = {},
                       std::uint64_t seed = 0);

}  // namespace weft::topologies
