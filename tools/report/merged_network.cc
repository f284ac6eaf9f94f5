#include "tools/report/merged_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace weft::report {
namespace {

using topologies::Edge;
using topologies::Node;
using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

// The parts of a network that become one node each, as numbers by vertex; endpoints have none.
struct Parts {
  std::vector<std::uint32_t> of;
  std::vector<std::vector<Vertex>> members;
};

// The switches of a tier, in the order of their places in the network, each with the number of its group
// among those of the tier; of a tier without groups each is one.
std::vector<std::pair<std::uint32_t, Vertex>> units(const Topology& topology, unsigned tier) {
  using Place = std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>;
  const auto place = [&](Vertex v) {
    const Node& node = topology.node(v);
    return Place(node.site, node.plane, node.group);
  };
  std::vector<Vertex> switches;
  for (std::uint32_t i = 0; i < topology.switches(); ++i) {
    if (topology.node(topology.switch_at(i)).tier == tier) switches.push_back(topology.switch_at(i));
  }
  std::stable_sort(switches.begin(), switches.end(), [&](Vertex a, Vertex b) { return place(a) < place(b); });
  const bool grouped = !switches.empty() && place(switches.front()) != place(switches.back());
  std::vector<std::pair<std::uint32_t, Vertex>> all;
  std::uint32_t unit = 0;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (i > 0 && (!grouped || place(switches[i]) != place(switches[i - 1]))) ++unit;
    all.emplace_back(unit, switches[i]);
  }
  return all;
}

Parts divide(const Topology& topology, std::size_t most) {
  Parts parts;
  parts.of.assign(topology.nodes(), kNotDrawn);
  unsigned tiers = 0;
  for (std::uint32_t i = 0; i < topology.switches(); ++i) {
    tiers = std::max<unsigned>(tiers, topology.node(topology.switch_at(i)).tier);
  }
  const std::size_t room = std::max<std::size_t>(most / (tiers + 1), 1);
  for (unsigned tier = 0; tier <= tiers; ++tier) {
    const auto all = units(topology, tier);
    if (all.empty()) continue;
    const std::size_t together = (all.back().first + room) / room;
    const auto first = static_cast<std::uint32_t>(parts.members.size());
    for (const auto& [unit, v] : all) {
      parts.of[v] = first + static_cast<std::uint32_t>(unit / together);
      if (parts.of[v] == parts.members.size()) parts.members.emplace_back();
      parts.members[parts.of[v]].push_back(v);
    }
  }
  return parts;
}

// Every pair of parts that links join, ascending.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined(const Topology& topology,
                                                                        const Parts& parts) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
  for (const Edge& edge : topology.edges()) {
    const auto [a, b] = std::minmax(parts.of[edge.from], parts.of[edge.to]);
    if (a != b && b != kNotDrawn) ++pairs[{a, b}];
  }
  return pairs;
}

std::string name_of(const Topology& topology, const std::vector<Vertex>& members) {
  const std::string& first = topology.node(members.front()).name;
  if (members.size() == 1) return first;
  return fmt::format("{} switches: {} … {}", members.size(), first, topology.node(members.back()).name);
}

MergedNetwork whole(const Topology& topology) {
  MergedNetwork network{.topology = topology};
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    network.line.push_back(c / 2);
    network.back.push_back(c % 2 == 1);
  }
  network.links.assign(topology.edges().size(), 1);
  return network;
}

// Builds the network of the parts.
MergedNetwork assemble(const Topology& topology, const Parts& parts) {
  MergedNetwork network{.topology = Topology(topology.name()), .merged = true};
  std::vector<std::uint64_t> endpoints(parts.members.size());
  const auto part_of_edge = [&](const Edge& edge) {
    return std::pair(parts.of[edge.from], parts.of[edge.to]);
  };
  for (const Edge& edge : topology.edges()) {
    const auto [a, b] = part_of_edge(edge);
    if ((a == kNotDrawn) != (b == kNotDrawn)) ++endpoints[std::min(a, b)];
  }
  std::vector<Vertex> switches, hosts(parts.members.size());
  for (const std::vector<Vertex>& members : parts.members) {
    Node node = topology.node(members.front());
    node.name = name_of(topology, members);
    switches.push_back(network.topology.add_node(node));
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> line;
  const auto line_of = [&](std::uint32_t a, std::uint32_t b, Vertex from, Vertex to, const Edge& edge) {
    const auto [found, added] = line.try_emplace({a, b}, static_cast<std::uint32_t>(network.links.size()));
    if (added) {
      network.topology.add_link(from, to, edge.link);
      network.links.push_back(0);
    }
    ++network.links[found->second];
    return found->second;
  };
  for (std::uint32_t p = 0; p < parts.members.size(); ++p) {
    if (endpoints[p] == 0) continue;
    hosts[p] = network.topology.add_host(
        fmt::format("links to {} endpoints of {}", endpoints[p], name_of(topology, parts.members[p])),
        topology.node(parts.members[p].front()).group);
  }
  for (const Edge& edge : topology.edges()) {
    const auto [a, b] = part_of_edge(edge);
    std::uint32_t number = kNotDrawn;
    bool turned = false;
    if (a != b) {
      turned = a > b;
      const auto [low, high] = std::minmax(a, b);
      const Vertex to = high == kNotDrawn ? hosts[low] : switches[high];
      number = line_of(low, high, switches[low], to, edge);
    }
    for (const bool second : {false, true}) {
      network.line.push_back(number);
      network.back.push_back(second != turned);
    }
  }
  network.topology.finish();
  return network;
}

}  // namespace

MergedNetwork merge(const Topology& topology, std::size_t most_switches, std::size_t most_lines) {
  std::size_t between = 0;
  for (const Edge& edge : topology.edges()) {
    between += topology.node(edge.from).kind == NodeKind::kSwitch &&
               topology.node(edge.to).kind == NodeKind::kSwitch;
  }
  if (topology.switches() == 0 || (topology.switches() <= most_switches && between <= most_lines)) {
    return whole(topology);
  }
  Parts parts = divide(topology, most_switches);
  for (std::size_t most = most_switches; most > 2 && joined(topology, parts).size() > most_lines;) {
    most /= 2;
    parts = divide(topology, most);
  }
  return assemble(topology, parts);
}

}  // namespace weft::report
