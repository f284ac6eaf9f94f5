// Ways up and down against a plain search for them.
#include "sim/routing/parts/legal_ways.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/policies/up_down.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::Topology;

struct Net {
  explicit Net(Topology built, std::vector<bool> down = {}, const std::string& root = "auto")
      : topology(std::move(built)),
        table(topology),
        parameters(up_down().info, std::map<std::string, std::string>{{"root", root}}),
        down_links(std::move(down)),
        ways({parameters, topology, table}, root, down_links) {}
  explicit Net(const std::string& choice) : Net(topologies::build(parse_module_choice(choice))) {}

  // Links to the nearest switch of a host, over all of these that are legal, by plain relaxation; -1.
  std::vector<int> plain(std::uint32_t host, bool descending) const {
    std::vector<int> up(topology.switches(), -1), down(topology.switches(), -1);
    for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
      if (!is_up(c)) continue;
      up[topology.node(topology.channels()[c].to).index] = 0;
      down[topology.node(topology.channels()[c].to).index] = 0;
    }
    const auto shorten = [](int& known, int other) {
      if (other < 0 || (known >= 0 && known <= other + 1)) return false;
      known = other + 1;
      return true;
    };
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
        if (!between_switches(c) || !is_up(c)) continue;
        const std::uint32_t from = index(topology.channels()[c].from), to = index(topology.channels()[c].to);
        if (ways.leads_up(c)) {
          again = shorten(up[from], up[to]) || again;
        } else {
          again = shorten(up[from], down[to]) || again;
          again = shorten(down[from], down[to]) || again;
        }
      }
    }
    return descending ? down : up;
  }
  bool is_up(std::uint32_t c) const { return down_links.empty() || !down_links[c / 2]; }
  bool between_switches(std::uint32_t c) const {
    const auto is_switch = [&](std::uint32_t v) {
      return topology.node(v).kind == topologies::NodeKind::kSwitch;
    };
    return is_switch(topology.channels()[c].from) && is_switch(topology.channels()[c].to);
  }
  std::uint32_t index(std::uint32_t v) const { return topology.node(v).index; }

  Topology topology;
  RoutingTable table;
  Parameters parameters;
  std::vector<bool> down_links;
  LegalWays ways;
};

// The links up make no circle, and neither do those down: there is an order.
bool is_ordered(const Net& net) {
  std::vector<std::uint32_t> ends_up(net.topology.switches());
  for (std::uint32_t round = 0; round <= net.topology.switches(); ++round) {
    bool changed = false;
    for (std::uint32_t c = 0; c < net.topology.channels().size(); ++c) {
      if (!net.between_switches(c) || !net.is_up(c)) continue;
      if (net.ways.leads_up(c) == net.ways.leads_up(c ^ 1)) return false;
      if (!net.ways.leads_up(c)) continue;
      const std::uint32_t from = net.index(net.topology.channels()[c].from);
      const std::uint32_t least = ends_up[net.index(net.topology.channels()[c].to)] + 1;
      if (ends_up[from] >= least) continue;
      ends_up[from] = least;
      changed = true;
    }
    if (!changed) return true;
  }
  return false;
}

void check(const Net& net) {
  RC_ASSERT(is_ordered(net));
  for (std::uint32_t host = 0; host < net.topology.hosts(); ++host) {
    const std::uint32_t destination = net.ways.destinations().of(host);
    for (const bool descending : {false, true}) {
      const std::vector<int> plain = net.plain(host, descending);
      for (std::uint32_t s = 0; s < net.topology.switches(); ++s) {
        const std::uint32_t found = net.ways.distance(s, descending, destination);
        RC_ASSERT(found == static_cast<std::uint32_t>(plain[s]));
        if (plain[s] <= 0) continue;
        std::vector<std::uint32_t> next, expected;
        net.ways.next(s, descending, destination, next);
        const std::vector<int> on_way_down = net.plain(host, true), on_way_up = net.plain(host, false);
        for (const std::uint32_t c : net.topology.out_channels(net.topology.switch_at(s))) {
          if (!net.between_switches(c) || !net.is_up(c) || (descending && net.ways.leads_up(c))) continue;
          const std::uint32_t to = net.index(net.topology.channels()[c].to);
          if ((net.ways.leads_up(c) ? on_way_up : on_way_down)[to] == plain[s] - 1) expected.push_back(c);
        }
        RC_ASSERT(next == expected);
      }
    }
  }
}

}  // namespace

TEST_CASE("legal ways: shortest ones, as a plain search finds them, on networks of any shape") {
  REQUIRE(rc::check([] {
    Topology topology = topologies::random_network();
    std::vector<bool> down(topology.edges().size());
    for (std::size_t e = 0; e < down.size(); ++e) down[e] = *rc::gen::inRange(0, 5) == 4;
    check(Net(std::move(topology), *rc::gen::arbitrary<bool>() ? down : std::vector<bool>()));
  }));
  for (const char* choice : {"fat_tree:k=4", "dragonfly:p=1", "torus:dims=3x4"}) check(Net(choice));
}

TEST_CASE("legal ways: on trees all shortest ways, from the highest tier") {
  const Net net("fat_tree:k=4");
  for (std::uint32_t host = 0; host < net.topology.hosts(); ++host) {
    for (std::uint32_t s = 0; s < net.topology.switches(); ++s) {
      const Candidates minimal = net.table.candidates(net.topology.switch_at(s), host);
      const std::uint32_t destination = net.ways.destinations().of(host);
      if (net.ways.destinations().ends_at(s, destination)) continue;
      // Where hosts are, and on the way from there.
      if (net.topology.node(net.topology.switch_at(s)).tier > 1 &&
          net.ways.distance(s, true, destination) == LegalWays::kNoWay) {
        continue;
      }
      std::vector<std::uint32_t> next;
      net.ways.next(s, false, destination, next);
      CHECK(std::ranges::equal(next, minimal));
    }
  }
}

TEST_CASE("legal ways: the root is the middle of a mesh, or the one that is given") {
  const auto ups = [](const Net& net, std::uint32_t s) {
    return std::ranges::count_if(net.topology.out_channels(net.topology.switch_at(s)),
                                 [&](std::uint32_t c) { return net.ways.leads_up(c); });
  };
  const Net middle("mesh:dims=5x5");
  const Net corner(topologies::build(parse_module_choice("mesh:dims=5x5")), {}, "0");
  const Net named(topologies::build(parse_module_choice("mesh:dims=5x5")), {},
                  corner.topology.node(corner.topology.switch_at(24)).name);
  for (std::uint32_t s = 0; s < 25; ++s) {
    CHECK((ups(middle, s) == 0) == (s == 12));
    CHECK((ups(corner, s) == 0) == (s == 0));
    CHECK((ups(named, s) == 0) == (s == 24));
  }
  CHECK_THROWS_WITH(Net(topologies::build(parse_module_choice("mesh:dims=5x5")), {}, "router"),
                    Catch::Matchers::Contains("root is 'router', but it must be auto, or the name or number "
                                              "of one of the 25 switches of mesh"));
}

TEST_CASE("legal ways: longer ones than a byte can tell") {
  const Net net("torus:dims=600");
  CHECK(net.ways.distance(299, false, net.ways.destinations().of(0)) == 299);
  std::uint32_t longest = 0;
  for (std::uint32_t s = 0; s < 600; ++s) {
    longest = std::max(longest, net.ways.distance(s, false, net.ways.destinations().of(290)));
  }
  // The order begins with switch 0 and ends with 300: from 301 it is 299 links up, and 290 down.
  CHECK(longest == 299 + 290);
}

}  // namespace weft::routing
