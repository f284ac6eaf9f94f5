// HammingMesh's own routing: which of all shortest paths it allows, and what they need.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/routing/paths/dependencies.h"
#include "sim/routing/paths/link_load.h"
#include "sim/routing/paths/path_list.h"
#include "tests/sim/routing/registered.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::Topology;

struct Net {
  explicit Net(const std::string& choice)
      : topology(topologies::build(parse_module_choice(choice))),
        table(topology),
        policy(registered("hammingmesh")) {}
  std::unique_ptr<PathModel> model() const { return paths_of(policy, {parameters, topology, table, 1}); }

  Topology topology;
  RoutingTable table;
  Policy policy;
  Parameters parameters = Parameters(policy.info, std::map<std::string, std::string>());
};

// "accelerator 1.0.2.3": its board, and its place there.
struct Place {
  bool on_board = false;
  int numbers[4] = {};
};
Place place(const std::string& name) {
  Place p;
  p.on_board = std::sscanf(name.c_str(), "accelerator %d.%d.%d.%d", &p.numbers[0], &p.numbers[1],
                           &p.numbers[2], &p.numbers[3]) == 4;
  return p;
}
bool same_board(const Place& a, const Place& b) {
  return a.on_board && b.on_board && a.numbers[0] == b.numbers[0] && a.numbers[1] == b.numbers[1];
}

bool is_north(const Topology& topology, std::uint32_t channel) {
  const Place from = place(topology.node(topology.channels()[channel].from).name);
  const Place to = place(topology.node(topology.channels()[channel].to).name);
  return same_board(from, to) && to.numbers[2] < from.numbers[2];
}
bool is_across(const Topology& topology, std::uint32_t channel) {
  const Place from = place(topology.node(topology.channels()[channel].from).name);
  const Place to = place(topology.node(topology.channels()[channel].to).name);
  return same_board(from, to) && to.numbers[3] != from.numbers[3];
}

// The turn model, told from names: having gone north on a board, no turn to another accelerator in the second
// dimension.
bool turns_north_last(const Topology& topology, const std::vector<std::uint32_t>& channels) {
  bool went_north = false;
  for (const std::uint32_t c : channels) {
    const Place from = place(topology.node(topology.channels()[c].from).name);
    const Place to = place(topology.node(topology.channels()[c].to).name);
    if (!same_board(from, to)) {
      went_north = false;
      continue;
    }
    if (went_north && from.numbers[3] != to.numbers[3]) return false;
    if (to.numbers[2] < from.numbers[2]) went_north = true;
  }
  return true;
}

}  // namespace

TEST_CASE("hammingmesh: shortest paths that go across before they go north, and no others") {
  for (const char* choice :
       {"hammingmesh:a=2,b=2,x=2,y=2", "hammingmesh:a=4,b=3,x=2,y=2", "hammingmesh:a=1,b=1,x=3,y=3",
        "hammingmesh:a=3,b=2,x=4,y=1,radix=4", "hammingmesh:a=2,b=1,x=2,y=2"}) {
    INFO(choice);
    const Net net(choice);
    const auto model = net.model();
    const MinimalPaths minimal(net.table);
    for (std::uint32_t d = 0; d < net.topology.hosts(); ++d) {
      for (std::uint32_t s = 0; s < net.topology.hosts(); s += 5) {
        if (s == d) continue;
        std::set<std::vector<std::uint32_t>> all, expected, found;
        std::set<std::uint32_t> across;  // vertices from which some shortest path leads across
        for (const ListedPath& path : list_paths(net.topology, net.table, minimal, s, d, 100'000).paths) {
          all.insert(path.channels);
          for (const std::uint32_t c : path.channels) {
            if (is_across(net.topology, c)) across.insert(net.topology.channels()[c].from);
          }
        }
        for (const auto& path : all) {
          const bool early = std::ranges::any_of(path, [&](std::uint32_t c) {
            return is_north(net.topology, c) && across.contains(net.topology.channels()[c].from);
          });
          if (!early) expected.insert(path);
        }
        for (const ListedPath& path : list_paths(net.topology, net.table, *model, s, d, 100'000).paths) {
          REQUIRE(turns_north_last(net.topology, path.channels));
          found.insert(path.channels);
        }
        REQUIRE(!expected.empty());
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("hammingmesh: three virtual channels are enough, two or none aren't") {
  for (const char* choice : {"hammingmesh:a=2,b=2,x=3,y=3", "hammingmesh:a=4,b=3,x=2,y=2",
                             "hammingmesh:a=1,b=1,x=3,y=3", "hammingmesh:a=2,b=2,x=4,y=4,radix=4"}) {
    INFO(choice);
    const Net net(choice);
    const auto model = net.model();
    const auto acyclic = [&](std::uint32_t channels) {
      return find_dependencies(net.topology, net.table, {{.paths = model.get()}},
                               {.channels = channels, .selection = ChannelRule::Selection::kRouted})
          .acyclic();
    };
    CHECK(acyclic(3));
    CHECK_FALSE(acyclic(1));
  }
}

TEST_CASE("hammingmesh: uniform traffic has 1 / 2a of what hosts send, as the paper says") {
  // Four ports an accelerator; of a board of a x a 2a lead into rows. A host's own link is as fast as these
  // four together.
  for (const auto& [choice, a] :
       {std::pair{"hammingmesh:a=2,b=2,x=8,y=8", 2}, {"hammingmesh:a=4,b=4,x=4,y=4", 4}}) {
    INFO(choice);
    const Net net(choice);
    const LinkLoad load = link_load(net.topology, net.table, *net.model(),
                                    topologies::uniform_traffic(topologies::router_graph(net.topology)));
    const double lines = 1.0 / (2 * a);
    CHECK(load.stranded == 0);
    CHECK(load.saturation() == Approx(lines).epsilon(0.3));
  }
}

TEST_CASE("hammingmesh: other families are refused") {
  const Topology topology = topologies::build(parse_module_choice("torus:dims=4x4"));
  const RoutingTable table(topology);
  const Policy policy = registered("hammingmesh");
  const Parameters parameters(policy.info, std::map<std::string, std::string>());
  CHECK_THROWS_WITH(paths_of(policy, {parameters, topology, table, 1}),
                    Catch::Contains("hammingmesh is for the topology of that name") &&
                        Catch::Contains("this is torus:dims=4x4"));
  CHECK_THROWS_WITH(policy.make_plan({parameters, topology, table, 1}), Catch::Contains("this is torus"));
}

}  // namespace weft::routing
