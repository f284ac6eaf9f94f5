// Flows that divide by path models: against every way of a pair, and rates in closed form.
#include "sim/flow/division.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/flow/max_min.h"
#include "sim/flow/paths.h"
#include "sim/units/module.h"
#include "tests/sim/routing/path_models.h"
#include "topologies/families.h"

namespace weft::sim::flow {
namespace {

using routing::PathModel;
using routing::RoutingTable;
using topologies::Topology;

struct Site {
  explicit Site(Topology built) : topology(std::move(built)), table(topology) {
    for (const topologies::Channel& c : topology.channels()) capacity.push_back(c.rate.bps() << kRateBits);
  }
  explicit Site(const std::string& choice) : Site(topologies::build(parse_module_choice(choice))) {}
  std::uint32_t entry(std::uint32_t host) const {
    return topology.channels()[topology.out_channels(topology.host(host))[0]].to;
  }
  Topology topology;
  RoutingTable table;
  std::vector<Rate> capacity;
};

PathMaker detours(const Topology& topology, double share) {
  return [&topology, share](const RoutingTable& table, std::span<const double>) {
    return std::make_unique<routing::DetourPaths>(topology, table, share);
  };
}
PathMaker minimal() {
  return [](const RoutingTable& table, std::span<const double>) {
    return std::make_unique<routing::MinimalPaths>(table);
  };
}

// Returns hosts' rates as shares of the first channel's, when each sends to the one that `to` says.
template <typename To>
std::vector<double> rates(const Site& site, const PathMaker& make, const To& to) {
  Paths paths(site.topology, site.table, routing::FluidPaths::kModel, 1, make);
  MaxMin solver;
  for (const Rate capacity : paths.resources()) solver.add_resource(capacity);
  Way way;
  for (std::uint32_t h = 0; h < site.topology.hosts(); ++h) {
    paths.find({.source = h, .destination = to(h)}, way);
    REQUIRE(way.open);
    solver.add(h, way.uses, 1, kMostRate);
  }
  solver.solve();
  std::vector<double> found;
  for (std::uint32_t h = 0; h < site.topology.hosts(); ++h) {
    found.push_back(static_cast<double>(solver.rate(h)) / static_cast<double>(site.capacity[0]));
  }
  return found;
}

Topology random_network() {
  const auto below = [](std::size_t n) { return *rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, n)); };
  Topology topology("random");
  std::vector<topologies::Vertex> switches;
  const topologies::Link link{Bandwidth::gbps(100), Time()};
  const std::size_t count = 2 + below(5), across = below(5);
  for (std::size_t s = 0; s < count; ++s) {
    switches.push_back(topology.add_switch("switch " + std::to_string(s), 1));
    if (s > 0) topology.add_link(switches[s], switches[below(s)], link);
  }
  for (std::size_t i = 0; i < across; ++i) {
    const std::size_t a = below(count);
    topology.add_link(switches[a], switches[(a + 1 + below(count - 1)) % count], link);
  }
  for (std::size_t h = 0; h < 2 + below(6); ++h) {
    topology.add_link(topology.add_host("host " + std::to_string(h)), switches[below(count)], link);
  }
  topology.finish();
  return topology;
}

// Over two spines, three quarters by the first.
class ThreeToOne : public PathModel {
 public:
  explicit ThreeToOne(const RoutingTable& table) : table_(table) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<routing::PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(topologies::Vertex at, routing::PathState, std::uint32_t host,
             std::vector<routing::PathStep>& steps) const override {
    const routing::Candidates next = table_.candidates(at, host);
    for (const std::uint32_t c : next) steps.push_back({.channel = c, .share = 1});
    if (steps.size() == 2) steps[0].share = 0.75, steps[1].share = 0.25;
  }

 private:
  const RoutingTable& table_;
};

}  // namespace

TEST_CASE("divisions: each channel's part, as all ways of the pair add up to") {
  rc::check("single-homed hosts, with detours and without", [] {
    const Site site(random_network());
    const double share = *rc::gen::element(0.0, 0.5, 1.0);
    const PathMaker make = detours(site.topology, share);
    const std::unique_ptr<PathModel> model = make(site.table, {});
    Division division(site.topology, site.table, make(site.table, {}), site.capacity);
    std::vector<Division::Part> parts;
    std::vector<std::uint32_t> hops;
    for (std::uint32_t s = 0; s < site.topology.hosts(); ++s) {
      for (std::uint32_t d = 0; d < site.topology.hosts(); ++d) {
        if (s == d) continue;
        std::vector<double> expected(site.capacity.size()), found(site.capacity.size());
        routing::each_way(site.topology, site.table, *model, s, d,
                          [&](const std::vector<routing::PlainWalk::Hop>& way, double part) {
                            for (std::size_t i = 1; i < way.size(); ++i) expected[way[i].first] += part;
                          });
        RC_ASSERT(division.divide(s, site.entry(s), d, parts, hops));
        for (const Division::Part& part : parts) found[part.channel] += part.share;
        for (std::size_t c = 0; c < found.size(); ++c) {
          RC_ASSERT(std::abs(found[c] - std::min(expected[c], 1.0)) < 1e-8);
        }
        RC_ASSERT(site.topology.channels()[hops.back()].to == site.topology.host(d));
      }
    }
  });
}

TEST_CASE("divisions: by intermediate hosts a torus accepts half of any permutation") {
  const Site site("torus:dims=8x8");
  const auto tornado = [](std::uint32_t h) { return h / 8 * 8 + (h + 3) % 8; };
  const auto opposite = [](std::uint32_t h) { return 63 - h; };
  for (const double rate : rates(site, detours(site.topology, 1), tornado))
    CHECK(rate == Approx(0.5).epsilon(1e-6));
  for (const double rate : rates(site, detours(site.topology, 1), opposite))
    CHECK(rate == Approx(0.5).epsilon(1e-6));
  // Three hosts share each link one way round.
  for (const double rate : rates(site, minimal(), tornado)) CHECK(rate == Approx(1.0 / 3).epsilon(1e-6));
}

TEST_CASE("divisions: weights by hand, and what is left of them when a link is down") {
  Topology topology("two spines");
  const topologies::Link link{Bandwidth::gbps(100), Time()};
  const auto left = topology.add_switch("left", 1), right = topology.add_switch("right", 1);
  for (const char* name : {"spine 0", "spine 1"}) {
    const auto spine = topology.add_switch(name, 2);
    topology.add_link(left, spine, link);
    topology.add_link(spine, right, link);
  }
  for (std::uint32_t h = 0; h < 4; ++h) {
    topology.add_link(topology.add_host("host " + std::to_string(h)), h < 2 ? left : right, link);
  }
  topology.finish();
  Site site(std::move(topology));
  const PathMaker make = [](const RoutingTable& table, std::span<const double>) {
    return std::make_unique<ThreeToOne>(table);
  };
  // Two flows each way, three quarters of each over the first spine: 2 · 3/4 · rate = 1.
  for (const double rate : rates(site, make, [](std::uint32_t h) { return (h + 2) % 4; })) {
    CHECK(rate == Approx(2.0 / 3).epsilon(1e-6));
  }
  Paths paths(site.topology, site.table, routing::FluidPaths::kModel, 1, make);
  paths.carry({.source = 0, .destination = 2}, 1000);
  Way way;
  paths.set_share(0, 0);  // left to spine 0
  paths.refresh();
  paths.find({.source = 0, .destination = 2}, way);
  REQUIRE(way.open);
  CHECK(way.uses.size() == 4);
  for (const Use& use : way.uses) CHECK(use.share == kWhole);
  paths.carry({.source = 0, .destination = 2}, 500);
  const std::vector<std::uint64_t> bytes = paths.carried();
  CHECK(bytes[0] == 750);
  CHECK(bytes[4] == 250 + 500);
  paths.set_share(2, 0);  // left to spine 1
  paths.refresh();
  paths.find({.source = 0, .destination = 2}, way);
  CHECK_FALSE(way.open);
}

}  // namespace weft::sim::flow
