// A network as a Boost.Graph, for the algorithms of that library. Costly to compile: include it in source
// files that call one.
#pragma once

#include <boost/graph/adjacency_list.hpp>

#include "topologies/graph/topology.h"

namespace weft::topologies {

using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// Vertex v is node v; edges come in the order of Topology::edges(). Parallel cables are parallel edges.
inline BoostGraph boost_graph(const Topology& topology) {
  BoostGraph graph(topology.nodes());
  for (const Edge& edge : topology.edges()) boost::add_edge(edge.from, edge.to, graph);
  return graph;
}

}  // namespace weft::topologies
