// Which of a job's nodes goes to which of its hosts, so that those that talk much are near each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/placement/host_distances.h"
#include "sim/placement/placement.h"

namespace weft::placement {

// Who talks how much with whom, either way: vertices, each pair listed from both ends.
struct TalkGraph {
  std::vector<std::uint32_t> begin = {0};  // the partners of v are begin[v] … begin[v + 1] - 1
  std::vector<std::uint32_t> to;           // ascending for each vertex
  std::vector<double> bytes;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(begin.size()) - 1; }
};
// `part` is the vertex of each rank; what stays within one is left out.
TalkGraph talk_graph(std::span<const Exchange> exchanges, std::span<const std::uint32_t> part,
                     std::uint32_t vertices);

// The part of each vertex, parts of exactly these sizes, with little traffic across: by repeated bisection
// with METIS, whose sides are then made to fit. REQUIRES: the sizes add up to the vertices; each is 1 or
// more.
std::vector<std::uint32_t> split_exactly(const TalkGraph& graph, std::span<const std::uint32_t> sizes,
                                         std::uint64_t seed);

// The host of each vertex, and their sum of bytes times hops.
using Mapping = std::vector<std::uint32_t>;
double hop_bytes(const TalkGraph& graph, const HostDistances& distances, const Mapping& mapping);

// Each takes as many hosts as vertices.
//
// Halves of the job to halves of the hosts, again and again; which half goes where is decided by what each
// sends to what is placed elsewhere. Source: F. Pellegrini, Static mapping by dual recursive bipartitioning
// of process and architecture graphs, SHPCC 1994.
Mapping map_by_bisection(const TalkGraph& graph, const HostDistances& distances,
                         std::span<const std::uint32_t> hosts, std::uint64_t seed);
// The vertex that talks most with those placed, to the free host where that costs least. Source: T. Hoefler,
// M. Snir, Generic topology mapping strategies for large-scale parallel architectures, ICS 2011.
Mapping map_greedily(const TalkGraph& graph, const HostDistances& distances,
                     std::span<const std::uint32_t> hosts);

// Improves a mapping by so many attempts to exchange two hosts, by simulated annealing (S. Kirkpatrick, C. D.
// Gelatt, M. P. Vecchi, Optimization by simulated annealing, Science 220, 1983), and then as long as any
// exchange with a partner's neighbourhood helps. What it ends with is no worse than what it began with.
void anneal(const TalkGraph& graph, const HostDistances& distances, std::uint64_t steps, std::uint64_t seed,
            Mapping& mapping);

}  // namespace weft::placement
