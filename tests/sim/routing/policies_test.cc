// How evenly policies spread packets, with the built-in rule of switches.
#include "sim/routing/policies.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/hash_choice.h"
#include "sim/routing/routing_table.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

const Policy& policy(const std::string& name) {
  return find_module(policies(), parse_module_choice(name), "routing policy");
}

// What selectors of the test that runs have counted; no policy has more signals.
std::array<std::uint64_t, 4> counted;

std::unique_ptr<PathSelector> make_selector(const std::string& name, std::int64_t paths, std::uint64_t seed) {
  const Policy& found = policy(name);
  const topologies::Topology topology = topologies::build(parse_module_choice("single_switch:hosts=2"));
  const RoutingTable table(topology);
  const Parameters parameters(found.info, {{"paths", std::to_string(paths)}});
  const PathSelectorMaker maker = found.make_path_selectors({parameters, topology, table});
  counted = {};
  return maker({.random = sim::RandomStream(seed, 0), .signals = counted.data()});
}
std::unique_ptr<PathSelector> make_spray(std::int64_t paths, std::uint64_t seed) {
  return make_selector("spray", paths, seed);
}

// The switches that a packet with this entropy crosses under the built-in rule; salts depend on the seed.
std::vector<topologies::Vertex> walk(const topologies::Topology& topology, const RoutingTable& table,
                                     std::uint64_t seed, std::uint32_t source, std::uint32_t destination,
                                     std::uint32_t entropy) {
  std::vector<topologies::Vertex> path;
  topologies::Vertex at = topology.host(source);
  while (at != topology.host(destination)) {
    const auto candidates = table.candidates(at, destination);
    const std::uint64_t salt = sim::RandomStream(seed, at).next();
    const std::uint32_t choice = hash_choice(entropy, salt, candidates.size());
    at = topology.channels()[candidates[choice]].to;
    path.push_back(at);
  }
  return path;
}

// Pearson's chi-squared of counts against equal shares.
double chi_squared(const std::vector<double>& counts) {
  double total = 0, sum = 0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("ecmp: the path of a flow follows from its entropy and the seed alone") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=8"));
  const RoutingTable table(topology);
  CHECK(policy("ecmp").make_path_selectors == nullptr);
  CHECK(policy("ecmp").make_plan == nullptr);
  std::set<std::vector<topologies::Vertex>> paths;
  for (std::uint32_t entropy = 0; entropy < 1000; ++entropy) {
    const auto path = walk(topology, table, 1, 0, 127, entropy);
    REQUIRE(path == walk(topology, table, 1, 0, 127, entropy));
    REQUIRE(path.size() == 6);  // edge, aggregation, core, aggregation, edge, host
    paths.insert(path);
  }
  CHECK(paths.size() == 16);  // (k/2)² shortest paths, all used
}

TEST_CASE("ecmp: flows spread uniformly over the shortest paths, for every seed") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=8"));
  const RoutingTable table(topology);
  // 16 paths between pods. Chi-squared with 15 degrees of freedom is above 44.3 once in 10,000 times.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::map<topologies::Vertex, double> flows;  // by core: each is on one shortest path
    for (std::uint32_t flow = 0; flow < 1600; ++flow) {
      const auto entropy = static_cast<std::uint32_t>(sim::RandomStream(seed, flow, 7).next());
      flows[walk(topology, table, seed, 3, 100, entropy)[2]] += 1;
    }
    std::vector<double> counts(16, 0);
    std::transform(flows.begin(), flows.end(), counts.begin(),
                   [](const auto& entry) { return entry.second; });
    INFO("seed " << seed);
    CHECK(chi_squared(counts) < 44.3);
  }
}

TEST_CASE("hash_choice: counts from 2 to 64 get equal shares, and neighbouring entropies differ") {
  for (std::uint32_t count = 2; count <= 64; ++count) {
    std::vector<double> shares(count, 0);
    for (std::uint32_t entropy = 0; entropy < count * 500; ++entropy) {
      const std::uint32_t choice = hash_choice(entropy, 0x1234567890ABCDEFULL, count);
      REQUIRE(choice < count);
      shares[choice] += 1;
    }
    INFO("count " << count);
    // Mean of chi-squared is count - 1, its standard deviation sqrt(2(count - 1)): five of them above.
    CHECK(chi_squared(shares) < (count - 1) + 5 * std::sqrt(2.0 * (count - 1)));
  }
}

TEST_CASE("spray: every round uses every entropy once, in a new order") {
  for (const std::uint32_t paths : {1u, 2u, 64u, 256u}) {
    auto selector = make_spray(paths, 5);
    std::set<std::uint32_t> all;
    std::set<std::vector<std::uint32_t>> orders;
    for (int round = 0; round < 20; ++round) {
      std::vector<std::uint32_t> order;
      for (std::uint32_t i = 0; i < paths; ++i) order.push_back(selector->next({.number = i}).entropy);
      CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == paths);
      all.insert(order.begin(), order.end());
      orders.insert(order);
    }
    CHECK(all.size() == paths);  // the same ones in every round
    if (paths >= 64) CHECK(orders.size() > 10);
  }
}

TEST_CASE("spray: flows differ, one flow is reproducible") {
  auto a = make_spray(256, 1), again = make_spray(256, 1), b = make_spray(256, 2);
  int equal = 0;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t entropy = a->next({.number = i}).entropy;
    CHECK(entropy == again->next({.number = i}).entropy);
    equal += entropy == b->next({.number = i}).entropy;
  }
  CHECK(equal == 0);  // another part of the entropy space
}

TEST_CASE("spray: the packets of one flow use all shortest paths about equally") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=8"));
  const RoutingTable table(topology);
  auto selector = make_spray(4096, 3);
  std::map<topologies::Vertex, double> packets;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    packets[walk(topology, table, 1, 0, 127, selector->next({.number = i}).entropy)[2]] += 1;
  }
  REQUIRE(packets.size() == 16);
  // Mean 256; five standard deviations of a binomial share are 78.
  for (const auto& [core, count] : packets) CHECK(std::abs(count - 256) < 78);
}

TEST_CASE("bitmap: without marks it is spray") {
  auto bitmap = make_selector("bitmap", 64, 9), spray = make_spray(64, 9);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t entropy = bitmap->next({.number = i}).entropy;
    CHECK(entropy == spray->next({.number = i}).entropy);
    bitmap->on_ack({.path = {entropy}, .ecn_marked = false});
  }
}

TEST_CASE("bitmap: an entropy misses one turn for each mark, four for a loss, and fifteen at most") {
  struct Case {
    int marks, losses, missed;
  };
  const auto [marks, losses, missed] =
      GENERATE(Case{1, 0, 1}, Case{3, 0, 3}, Case{0, 1, 4}, Case{2, 1, 6}, Case{20, 0, 15}, Case{0, 9, 15});
  constexpr std::uint32_t kPaths = 32;
  auto selector = make_selector("bitmap", kPaths, 4);
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kPaths; ++i) all.insert(selector->next({.number = i}).entropy);
  const std::uint32_t bad = *std::next(all.begin(), 7);
  for (int i = 0; i < marks; ++i) selector->on_ack({.path = {bad}, .ecn_marked = true});
  for (int i = 0; i < losses; ++i) selector->on_loss({.path = {bad}});
  // Of the next 20 rounds it misses so many.
  std::map<std::uint32_t, int> used;
  for (std::uint32_t i = 0; i < kPaths * 20 - static_cast<std::uint32_t>(missed); ++i) {
    ++used[selector->next({.number = i}).entropy];
  }
  for (const std::uint32_t entropy : all) CHECK(used[entropy] == (entropy == bad ? 20 - missed : 20));
  CHECK(counted[0] == static_cast<std::uint64_t>(missed));
}

TEST_CASE("bitmap: where every path is bad, it takes them all the same") {
  auto selector = make_selector("bitmap", 8, 4);
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 8; ++i) all.insert(selector->next({.number = i}).entropy);
  for (const std::uint32_t entropy : all) {
    for (int i = 0; i < 15; ++i) selector->on_ack({.path = {entropy}, .ecn_marked = true});
  }
  std::set<std::uint32_t> again;
  for (std::uint32_t i = 0; i < 8; ++i) again.insert(selector->next({.number = i}).entropy);
  CHECK(again == all);
}

TEST_CASE("reps: it takes again what came back without a mark, the oldest of the last eight first") {
  constexpr std::uint32_t kPaths = 256;
  auto selector = make_selector("reps", kPaths, 6);
  sim::RandomStream random(3, 0);
  std::vector<std::uint32_t> kept;  // by the definition
  std::set<std::uint32_t> fresh;
  std::uint64_t recycled = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    if (random.below(2) == 0) {
      const std::uint32_t entropy = selector->next({.number = i}).entropy;
      if (kept.empty()) {
        fresh.insert(entropy);
      } else {
        REQUIRE(entropy == kept.front());
        kept.erase(kept.begin());
        ++recycled;
      }
    } else {
      // Entropies that no fresh one can be.
      const auto entropy = 0x80000000u + i;
      const bool marked = random.below(3) == 0;
      selector->on_ack({.path = {entropy}, .ecn_marked = marked});
      if (!marked) kept.push_back(entropy);
      if (kept.size() > 8) kept.erase(kept.begin());
    }
  }
  CHECK(counted[0] == recycled);
  CHECK(fresh.size() > kPaths / 2);
  CHECK(fresh.size() <= kPaths);
  CHECK(*fresh.rbegin() - *fresh.begin() < kPaths);
}

TEST_CASE("spray and its relatives: paths must be a power of two") {
  for (const std::int64_t paths :
       {std::int64_t{0}, std::int64_t{-2}, std::int64_t{3}, std::int64_t{1} << 17}) {
    for (const std::string name : {"spray", "bitmap", "reps"}) {
      CHECK_THROWS_WITH(
          make_selector(name, paths, 1),
          name + ": paths is '" + std::to_string(paths) + "', but it must be a power of two from 1 to 65536");
    }
  }
}

}  // namespace weft::routing
