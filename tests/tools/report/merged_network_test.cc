// Networks made small enough to be drawn: no link is lost, none counted twice.
#include "tools/report/merged_network.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <string>

#include "topologies/families.h"

namespace weft::report {
namespace {

using topologies::NodeKind;
using topologies::Topology;

Topology network(const char* text) { return topologies::build(parse_module_choice(text)); }

TEST_CASE("a small network stays as it is") {
  const Topology whole = network("fat_tree:k=4");
  const MergedNetwork merged = merge(whole, 1500, 6000);
  CHECK_FALSE(merged.merged);
  CHECK(merged.topology.nodes() == whole.nodes());
  CHECK(merged.links == std::vector<std::uint32_t>(48, 1));
  CHECK(merged.line[7] == 3);
  CHECK(merged.back[7]);
}

TEST_CASE("every link is on one line, which joins the nodes that its ends are in") {
  for (const char* text : {"fat_tree:k=16", "dragonfly:p=4", "torus:dims=12x12x12", "slim_fly:q=13",
                           "jellyfish:n=400,r=8", "hammingmesh:a=2,b=2,x=16,y=16"}) {
    INFO(text);
    const Topology whole = network(text);
    const MergedNetwork merged = merge(whole, 100, 300);
    CHECK(merged.merged);
    CHECK(merged.topology.switches() <= 200);
    CHECK(merged.topology.edges().size() == merged.links.size());
    std::uint64_t drawn = 0;
    for (std::size_t c = 0; c < merged.line.size(); ++c) drawn += merged.line[c] != kNotDrawn;
    CHECK(drawn == 2 * std::accumulate(merged.links.begin(), merged.links.end(), std::uint64_t{0}));
    std::size_t between = 0;
    for (const topologies::Edge& edge : merged.topology.edges()) {
      between += merged.topology.node(edge.from).kind == NodeKind::kSwitch &&
                 merged.topology.node(edge.to).kind == NodeKind::kSwitch;
      // Tiers stay apart, so a line leads from one to another as its links do.
      CHECK(edge.from != edge.to);
    }
    CHECK(between <= 300);
    // The two directions of a link are the two of its line.
    for (std::size_t c = 0; c + 1 < merged.line.size(); c += 2) {
      CHECK(merged.line[c] == merged.line[c + 1]);
      CHECK(merged.back[c] != merged.back[c + 1]);
    }
  }
}

TEST_CASE("pods of a fat tree become one node for each tier") {
  const Topology whole = network("fat_tree:k=16");
  const MergedNetwork merged = merge(whole, 100, 6000);
  // 16 pods with 8 edge and 8 aggregation switches each, 64 core switches, 1,024 endpoints.
  unsigned edges = 0;
  for (std::uint32_t i = 0; i < merged.topology.switches(); ++i) {
    edges += merged.topology.node(merged.topology.switch_at(i)).name.starts_with("8 switches: edge");
  }
  CHECK(edges == 16);
  CHECK(merged.topology.hosts() == 16);
  CHECK(merged.topology.node(merged.topology.host(0)).name.starts_with("links to 64 endpoints"));
}

}  // namespace
}  // namespace weft::report
