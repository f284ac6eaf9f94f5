#include "topologies/analysis/router_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::topologies {
namespace {

struct HalfLink {
  std::uint32_t from, to, links;
  double rate;
};

// Both directions of every link must be in `list`.
void fill(ArcGraph& graph, std::uint32_t vertices, std::vector<HalfLink> list) {
  std::stable_sort(list.begin(), list.end(), [](const HalfLink& a, const HalfLink& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  graph.begin.assign(vertices + 1, 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const HalfLink& half = list[i];
    if (i > 0 && list[i - 1].from == half.from && list[i - 1].to == half.to) {
      graph.links.back() += half.links;
      graph.rate.back() += half.rate;
      continue;
    }
    graph.to.push_back(half.to);
    graph.links.push_back(half.links);
    graph.rate.push_back(half.rate);
    ++graph.begin[half.from + 1];
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  // Arcs are sorted by both ends, so the arcs into a vertex come in the order of its arcs out.
  graph.reverse.resize(graph.arcs());
  std::vector<std::uint32_t> next(graph.begin.begin(), graph.begin.end() - 1);
  for (std::uint32_t a = 0; a < graph.arcs(); ++a) graph.reverse[a] = next[graph.to[a]]++;
}

// Where a host's links lead: routers ascending, links to the same one added up.
std::vector<Terminal::Port> ports_of(const Topology& topology, std::uint32_t host) {
  std::map<std::uint32_t, Terminal::Port> ports;
  for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
    const Channel& channel = topology.channels()[c];
    const Node& other = topology.node(channel.to);
    if (other.kind != NodeKind::kSwitch) {
      throw InputError(fmt::format("{}: {} is linked to {}, but hosts forward nothing; link it to a switch",
                                   topology.name(), topology.node(channel.from).name, other.name));
    }
    Terminal::Port& port = ports[other.index];
    port.router = other.index;
    ++port.links;
    port.rate += static_cast<double>(channel.rate.bps());
  }
  std::vector<Terminal::Port> list;
  for (const auto& [router, port] : ports) list.push_back(port);
  return list;
}

void add_hosts(const Topology& topology, RouterGraph& graph) {
  // What tells terminals apart: for hosts with one router only which it is.
  using Key = std::vector<std::pair<std::uint32_t, double>>;
  std::map<Key, std::uint32_t> known;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const std::vector<Terminal::Port> ports = ports_of(topology, h);
    Key key;
    double rate = 0;
    for (const Terminal::Port& port : ports) {
      key.push_back({port.router, ports.size() == 1 ? 0 : port.rate});
      rate += port.rate;
      ++graph.hosts[port.router];
    }
    const auto [at, added] = known.try_emplace(key, static_cast<std::uint32_t>(graph.terminals.size()));
    if (added) {
      graph.terminals.emplace_back();
      for (const Terminal::Port& port : ports) graph.terminals.back().ports.push_back({port.router, 0, 0});
    }
    Terminal& terminal = graph.terminals[at->second];
    for (std::size_t i = 0; i < ports.size(); ++i) {
      terminal.ports[i].links += ports[i].links;
      terminal.ports[i].rate += ports[i].rate;
    }
    ++terminal.hosts;
    terminal.rate += rate;
    graph.terminal_of.push_back(at->second);
    graph.host_rate.push_back(rate);
  }
}

}  // namespace

std::uint32_t ArcGraph::degree(std::uint32_t v) const {
  return std::accumulate(links.begin() + begin[v], links.begin() + begin[v + 1], std::uint32_t{0});
}

std::uint64_t ArcGraph::link_count() const {
  return std::accumulate(links.begin(), links.end(), std::uint64_t{0}) / 2;
}

std::uint32_t RouterGraph::switches() const {
  return static_cast<std::uint32_t>(std::count(in_host.begin(), in_host.end(), false));
}

std::vector<std::uint32_t> RouterGraph::endpoint_routers() const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t r = 0; r < routers(); ++r) {
    if (hosts[r] > 0) list.push_back(r);
  }
  return list;
}

RouterGraph router_graph(const Topology& topology) {
  RouterGraph graph;
  std::vector<HalfLink> halves;
  for (const Channel& channel : topology.channels()) {
    const Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    const bool leaves = from.domain != kNoDomain && from.domain != to.domain;
    if (leaves) graph.leaving += static_cast<double>(channel.rate.bps());
    if (from.kind != NodeKind::kSwitch || to.kind != NodeKind::kSwitch || from.index == to.index) continue;
    halves.push_back({from.index, to.index, 1, static_cast<double>(channel.rate.bps())});
  }
  fill(graph, topology.switches(), std::move(halves));
  graph.hosts.assign(topology.switches(), 0);
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    graph.in_host.push_back(topology.node(topology.switch_at(s)).in_host);
  }
  add_hosts(topology, graph);
  return graph;
}

FlowNetwork flow_network(const RouterGraph& graph) {
  FlowNetwork network;
  network.routers = graph.routers();
  std::vector<HalfLink> halves;
  for (std::uint32_t r = 0; r < graph.routers(); ++r) {
    for (std::uint32_t a = graph.begin[r]; a < graph.begin[r + 1]; ++a) {
      halves.push_back({r, graph.to[a], graph.links[a], graph.rate[a]});
    }
  }
  std::uint32_t vertices = network.routers;
  for (const Terminal& terminal : graph.terminals) {
    if (terminal.ports.size() == 1) {
      network.vertex_of.push_back(terminal.ports[0].router);
      continue;
    }
    for (const Terminal::Port& port : terminal.ports) {
      halves.push_back({vertices, port.router, port.links, port.rate});
      halves.push_back({port.router, vertices, port.links, port.rate});
    }
    network.vertex_of.push_back(vertices++);
  }
  fill(network, vertices, std::move(halves));
  return network;
}

}  // namespace weft::topologies
