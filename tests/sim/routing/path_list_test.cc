// Paths of a pair and their shares, against every way that there is.
#include "sim/routing/paths/path_list.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/units/module.h"
#include "tests/sim/routing/path_models.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/families.h"

namespace weft::routing {

using topologies::Topology;

TEST_CASE("path lists: shares of all paths, the likeliest first, in random networks") {
  rc::check("direct ways", [] {
    const Topology topology = topologies::random_network();
    if (topology.hosts() < 2) return;
    const RoutingTable table(topology);
    const MinimalPaths minimal(table);
    const NumberedPaths numbered(table);
    const bool one = *rc::gen::arbitrary<bool>();
    const PathModel& model = one ? static_cast<const PathModel&>(numbered) : minimal;
    std::map<std::vector<std::uint32_t>, double> expected;
    each_way(topology, table, model, 0, 1, [&](const std::vector<PlainWalk::Hop>& way, double share) {
      std::vector<std::uint32_t> channels;
      for (const auto& [channel, lane] : way) channels.push_back(channel);
      expected[channels] += share;
    });
    const PathList all = list_paths(topology, table, model, 0, 1, 1'000'000);
    RC_ASSERT(all.paths.size() == expected.size());
    RC_ASSERT(all.paths_left == 0);
    for (std::size_t i = 0; i < all.paths.size(); ++i) {
      RC_ASSERT(std::abs(all.paths[i].share - expected.at(all.paths[i].channels)) < 1e-12);
      if (i > 0) RC_ASSERT(all.paths[i].share <= all.paths[i - 1].share);
    }
    // A part of the list is its beginning, and says what is missing.
    const PathList some = list_paths(topology, table, model, 0, 1, 2);
    double share = 0;
    for (std::size_t i = 0; i < some.paths.size(); ++i) {
      RC_ASSERT(std::abs(some.paths[i].share - all.paths[i].share) < 1e-6);
      share += some.paths[i].share;
    }
    const double left = static_cast<double>(all.paths.size() - some.paths.size());
    RC_ASSERT(some.paths_left == left);
    RC_ASSERT(std::abs(some.share_left + share - 1) < 1e-9);
  });
}

TEST_CASE("path lists: of very many equal paths a few are found at once") {
  // From corner to corner of a mesh: C(40, 20) ways of 40 steps.
  const Topology topology = topologies::build(parse_module_choice("mesh:dims=21x21"));
  const RoutingTable table(topology);
  const PathList list = list_paths(topology, table, MinimalPaths(table), 0, 21 * 21 - 1, 3);
  CHECK(list.paths.size() == 3);
  CHECK(list.paths_left + 3 == Approx(137846528820.0));
  CHECK(list.paths[0].channels.size() == 42);
}

TEST_CASE("path lists: detours are told by intermediate switch") {
  // A ring of 6: from 0 to 2, by 1, 3, 4 and 5 with odds of one in six each; by 0 and 2 it is the direct way.
  const Topology topology = topologies::build(parse_module_choice("torus:dims=6"));
  const RoutingTable table(topology);
  const DetourPaths model(topology, table);
  const PathList list = list_paths(topology, table, model, 0, 2, 10);
  REQUIRE(list.paths.size() == 1);
  CHECK(list.paths[0].share == Approx(2.0 / 6));
  CHECK(list.paths[0].channels.size() == 4);
  REQUIRE(list.detours.size() == 4);
  const std::uint32_t via[] = {1, 3, 4, 5}, hops[] = {2 + 2, 2 + 4, 2 + 4, 2 + 4};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(list.detours[i].share == Approx(1.0 / 6));
    CHECK(list.detours[i].hosts == 1);
    CHECK(list.detours[i].via ==
          std::vector<std::uint32_t>{static_cast<std::uint32_t>(topology.switch_at(via[i]))});
    CHECK(list.detours[i].least_hops == hops[i]);
    CHECK(list.detours[i].most_hops == hops[i]);
  }
  const PathList some = list_paths(topology, table, model, 0, 2, 3);
  CHECK(some.detours.size() == 3);
  CHECK(some.detours_left == 1);
  CHECK(some.detour_share_left == Approx(1.0 / 6));
}

}  // namespace weft::routing
