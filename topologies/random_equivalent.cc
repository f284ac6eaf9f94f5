#include "topologies/random_equivalent.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/families/link_swaps.h"

namespace weft::topologies {
namespace {

constexpr std::uint64_t kSwapsPerLink = 10;
constexpr int kTries = 20;

// What two links must have in common to be swapped.
using Kind = std::tuple<std::uint16_t, std::uint16_t, std::int64_t, std::int64_t, CableKind, double>;

bool between_routers(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  return topology.node(a).kind == NodeKind::kSwitch && topology.node(b).kind == NodeKind::kSwitch;
}

bool has_parallel(RouterLinks links) {
  for (auto& [a, b] : links) {
    if (a > b) std::swap(a, b);
  }
  std::sort(links.begin(), links.end());
  return std::adjacent_find(links.begin(), links.end()) != links.end();
}

// The links of one kind drawn anew, or `links` as they are.
RouterLinks redraw(std::uint32_t routers, const RouterLinks& links, bool parallel,
                   const std::vector<std::uint32_t>& among, bool turning, RandomStream& random) {
  const std::size_t parts = LinkSwaps(routers, links, parallel).parts();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    LinkSwaps swaps(routers, links, parallel);
    swaps.shuffle(among, kSwapsPerLink * among.size(), turning, random);
    if (swaps.join_parts(parts, among)) return swaps.links();
  }
  return links;
}

const ModuleInfo& random_equivalent_info() {
  static const ModuleInfo info = {
      .name = "random_equivalent",
      .summary = "Another network with the links between its routers drawn at random: a control.",
      .source =
          "M. Besta et al., EvalNet, IPDPS 2026; A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, Jellyfish: "
          "networking data centers randomly, NSDI 2012",
      .parameters =
          with_inner_network({{"seed", ParameterType::kInteger, "1", "Which of the random networks."}}),
  };
  return info;
}

Topology build_random_equivalent(const Parameters& parameters) {
  return random_equivalent(build(read_inner_network(parameters)),
                           static_cast<std::uint64_t>(parameters.integer("seed")));
}

}  // namespace

Topology random_equivalent(const Topology& of, std::uint64_t seed) {
  // The links between routers, as pairs of vertices, and by kind.
  RouterLinks links;
  std::vector<Link> cables;
  std::map<Kind, std::vector<std::uint32_t>> kinds;
  for (const Edge& edge : of.edges()) {
    std::uint32_t a = edge.from, b = edge.to;
    if (!between_routers(of, a, b)) continue;
    if (of.node(a).plane > of.node(b).plane) std::swap(a, b);
    const Link& link = edge.link;
    kinds[{of.node(a).plane, of.node(b).plane, link.rate.bps(), link.latency.ps(), link.cable, link.loss}]
        .push_back(static_cast<std::uint32_t>(links.size()));
    links.emplace_back(a, b);
    cables.push_back(link);
    cables.back().length_m = 0;
  }
  const bool parallel = has_parallel(links);
  std::uint64_t number = 0;
  for (const auto& [kind, among] : kinds) {
    RandomStream random(seed, number++, 2);
    links = redraw(of.nodes(), links, parallel, among, std::get<0>(kind) == std::get<1>(kind), random);
  }

  Topology topology(fmt::format("random_equivalent:of=[{}],seed={}", of.name(), seed));
  for (const std::string& note : of.notes()) topology.add_note(note);
  for (Vertex v = 0; v < of.nodes(); ++v) {
    Node node = of.node(v);
    node.domain = kNoDomain;  // links drawn at random lead out of nodes of several accelerators
    topology.add_node(std::move(node));
  }
  std::size_t next = 0;
  for (const Edge& edge : of.edges()) {
    if (between_routers(of, edge.from, edge.to)) {
      topology.add_link(links[next].first, links[next].second, cables[next]);
      ++next;
    } else {
      topology.add_link(edge.from, edge.to, edge.link);
    }
  }
  topology.finish();
  return topology;
}

Family random_equivalent_family() { return {random_equivalent_info(), build_random_equivalent}; }

}  // namespace weft::topologies
