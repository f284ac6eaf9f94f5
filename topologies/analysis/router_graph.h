// A network as its analyses see it: routers with compact lists of neighbours, and the hosts by where they are
// attached.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// An undirected graph, every edge as two arcs; parallel links are one arc that says how many they are. Links
// from a vertex to itself are left out.
struct ArcGraph {
  std::vector<std::uint32_t> begin = {0};  // the arcs from vertex v are begin[v] … begin[v + 1] - 1
  std::vector<std::uint32_t> to;           // ascending for each vertex
  std::vector<std::uint32_t> links;        // how many links an arc stands for
  std::vector<double> rate;                // bit/s of all of them, in the arc's direction
  std::vector<std::uint32_t> reverse;      // the arc back

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(begin.size()) - 1; }
  std::uint32_t arcs() const { return static_cast<std::uint32_t>(to.size()); }
  std::uint32_t degree(std::uint32_t v) const;  // in links
  std::uint64_t link_count() const;
};

// Hosts that are attached alike: all hosts of a router that have no other, or hosts whose links lead to the
// same several routers.
struct Terminal {
  struct Port {
    std::uint32_t router = 0, links = 0;
    double rate = 0;  // bit/s of these links, of all hosts of the terminal
  };
  std::vector<Port> ports;  // by router
  std::uint32_t hosts = 0;
  double rate = 0;  // bit/s that all its hosts together can send, and receive
};

// Router r is the topology's switch r (Node::index), routers inside hosts among them.
struct RouterGraph : ArcGraph {
  std::vector<std::uint32_t> hosts;        // by router: hosts with a link to it
  std::vector<bool> in_host;               // by router: Node::in_host
  std::vector<Terminal> terminals;         // in the order of their first hosts
  std::vector<std::uint32_t> terminal_of;  // by host
  std::vector<double> host_rate;           // by host, bit/s of all its links
  // bit/s of all links that leave machines of several accelerators (Node::domain), in one direction; 0: there
  // are none, or one machine alone.
  double leaving = 0;

  std::uint32_t routers() const { return vertices(); }
  std::uint32_t endpoints() const { return static_cast<std::uint32_t>(terminal_of.size()); }
  std::uint32_t switches() const;  // routers that are not inside hosts
  // Those with hosts, ascending.
  std::vector<std::uint32_t> endpoint_routers() const;
};

// Throws InputError if a host is linked to a host: neither would forward for others.
RouterGraph router_graph(const Topology& topology);

// This is a RouterGraph made ready for flows and cuts: its routers, then one vertex for each terminal with
// several routers, whose arcs are the links of its hosts. A terminal with one router is at that router,
// without links.
struct FlowNetwork : ArcGraph {
  std::uint32_t routers = 0;             // vertices from here on are terminals, and forward nothing
  std::vector<std::uint32_t> vertex_of;  // by terminal
};
FlowNetwork flow_network(const RouterGraph& graph);

}  // namespace weft::topologies
