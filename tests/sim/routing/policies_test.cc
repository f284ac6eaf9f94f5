// How evenly policies spread packets, with the built-in rule of switches.
#include "sim/routing/policies/policies.h"

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
#include "sim/routing/run_remarks.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

const Policy& policy(const std::string& name) {
  return find_module(policies(), parse_module_choice(name), "routing policy");
}

// What selectors of the test that runs have counted; no policy has more signals.
std::array<std::uint64_t, 4> counted;

std::unique_ptr<PathSelector> make_selector_with(const std::string& name,
                                                 const std::map<std::string, std::string>& parameters,
                                                 std::uint64_t seed) {
  const Policy& found = policy(name);
  const topologies::Topology topology = topologies::build(parse_module_choice("single_switch:hosts=2"));
  const RoutingTable table(topology);
  const Parameters given(found.info, parameters);
  const PathSelectorMaker maker = found.make_path_selectors({given, topology, table});
  counted = {};
  return maker({.random = sim::RandomStream(seed, 0), .signals = counted.data()});
}
std::unique_ptr<PathSelector> make_selector(const std::string& name, std::int64_t paths, std::uint64_t seed) {
  return make_selector_with(name, {{"paths", std::to_string(paths)}}, seed);
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
  // The bad entropy misses so many of the next 20 rounds.
  std::map<std::uint32_t, int> used;
  for (std::uint32_t i = 0; i < kPaths * 20 - static_cast<std::uint32_t>(missed); ++i) {
    ++used[selector->next({.number = i}).entropy];
  }
  for (const std::uint32_t entropy : all) CHECK(used[entropy] == (entropy == bad ? 20 - missed : 20));
  CHECK(counted[0] == static_cast<std::uint64_t>(missed));
}

TEST_CASE(
    "bitmap: a path that a timeout found lost is left out for fifteen turns, one that trimmed for four") {
  constexpr std::uint32_t kPaths = 16;
  auto selector = make_selector("bitmap", kPaths, 4);
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kPaths; ++i) all.insert(selector->next({.number = i}).entropy);
  const auto any = std::vector<std::uint32_t>(all.begin(), all.end());
  selector->on_loss({.now = Time::us(9), .path = {any[0]}});
  selector->on_timeout(Time::us(10));
  selector->on_loss({.now = Time::us(10), .path = {any[1]}});
  selector->on_loss({.now = Time::us(11), .path = {any[2]}});
  selector->on_trim({.now = Time::us(11), .path = {any[3]}});
  const std::map<std::uint32_t, int> missed = {{any[0], 4}, {any[1], 15}, {any[2], 4}, {any[3], 4}};
  constexpr std::uint32_t kRounds = 20;
  std::map<std::uint32_t, int> used;
  for (std::uint32_t i = 0; i < kPaths * kRounds - 27; ++i) ++used[selector->next({.number = i}).entropy];
  for (const std::uint32_t entropy : all) {
    const auto found = missed.find(entropy);
    CHECK(used[entropy] == static_cast<int>(kRounds) - (found == missed.end() ? 0 : found->second));
  }
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

TEST_CASE("reps: after a timeout it takes what has worked in turn, then sixteen at random") {
  const auto random = [](std::uint32_t entropy) { return entropy < 0x80000000u; };
  // The selector's own entropies lie together, in one half or the other; those that are known are of the 2^31
  // in the half that it doesn't draw from.
  auto selector = make_selector("reps", 256, 6);
  const bool low = random(selector->next({}).entropy);
  const auto known = [&](std::uint32_t n) { return (low ? 0x80000000u : 0u) + n; };
  const auto is_known = [&](std::uint32_t entropy) { return random(entropy) != low; };
  for (std::uint32_t n = 0; n < 5; ++n) selector->on_ack({.now = Time::us(n), .path = {known(n)}});
  for (std::uint32_t n = 0; n < 5; ++n) REQUIRE(selector->next({.now = Time::us(9)}).entropy == known(n));
  REQUIRE_FALSE(is_known(selector->next({.now = Time::us(9)}).entropy));

  selector->on_timeout(Time::us(10));
  for (std::uint32_t n = 0; n < 12; ++n) {
    REQUIRE(selector->next({.now = Time::us(20)}).entropy == known(n % 5));
  }
  // Newer ones are taken before, and stand in the place of the oldest then.
  selector->on_ack({.now = Time::us(30), .path = {known(77)}, .ecn_marked = true});
  for (std::uint32_t n = 5; n < 9; ++n) selector->on_ack({.now = Time::us(30), .path = {known(n)}});
  for (std::uint32_t n = 5; n < 9; ++n) REQUIRE(selector->next({.now = Time::us(31)}).entropy == known(n));
  std::set<std::uint32_t> reused;
  for (int i = 0; i < 8; ++i) reused.insert(selector->next({.now = Time::us(32)}).entropy);
  std::set<std::uint32_t> newest;
  for (std::uint32_t n = 1; n < 9; ++n) newest.insert(known(n));
  REQUIRE(reused == newest);
  // Another timeout doesn't make it longer, as ACKs came: 10 ms after the first it is over.
  selector->on_timeout(Time::us(9'000));
  REQUIRE(is_known(selector->next({.now = Time::us(10'009)}).entropy));
  for (std::uint32_t i = 0; i < 16; ++i) {
    selector->on_ack({.now = Time::us(10'010), .path = {known(100 + i)}});
    REQUIRE_FALSE(is_known(selector->next({.now = Time::us(10'010)}).entropy));
  }
  REQUIRE(selector->next({.now = Time::us(10'010)}).entropy == known(108));  // of the last eight
  REQUIRE(counted[0] == 5 + 4 + 1);
  REQUIRE(counted[1] == 1);
  REQUIRE(counted[2] == 12 + 8 + 1);
}

TEST_CASE("reps: a timeout with no ACK since the last ends the freeze") {
  auto selector = make_selector("reps", 256, 6);
  selector->on_ack({.path = {7}});
  REQUIRE(selector->next({.now = Time::us(1)}).entropy == 7);
  selector->on_timeout(Time::us(1));
  for (int i = 0; i < 5; ++i) REQUIRE(selector->next({.now = Time::us(2)}).entropy == 7);
  selector->on_timeout(Time::us(3));
  for (int i = 0; i < 20; ++i) REQUIRE(selector->next({.now = Time::us(4)}).entropy != 7);
  REQUIRE(counted[1] == 1);
}

TEST_CASE("reps: losses freeze where the user says so, and trimmed packets never") {
  for (const bool losses : {false, true}) {
    auto selector = make_selector_with("reps", {{"trigger", losses ? "loss" : "timeout"}}, 6);
    selector->on_trim({.now = Time::us(1), .path = {9}});
    REQUIRE(counted[1] == 0);
    selector->on_loss({.now = Time::us(1), .path = {9}});
    selector->on_loss({.now = Time::us(2), .path = {9}});
    REQUIRE(counted[1] == (losses ? 1 : 0));
  }
}

TEST_CASE("reps: freeze=0 leaves timeouts without effect") {
  auto selector = make_selector_with("reps", {{"freeze", "0"}}, 6);
  selector->on_ack({.path = {7}});
  selector->on_timeout(Time::us(1));
  REQUIRE(selector->next({.now = Time::us(2)}).entropy == 7);
  REQUIRE(selector->next({.now = Time::us(2)}).entropy != 7);
  REQUIRE(counted[1] == 0);
}

// One round trip of 10 us, of `acks` packets sent from `at` on, 1 ns apart; the first `marks` are marked.
void round_trip(PathSelector& selector, Time at, int acks, int marks) {
  for (int i = 0; i < acks; ++i) {
    const std::uint32_t entropy = selector.next({.now = at + Time::ns(i), .in_flight = 1}).entropy;
    selector.on_ack({.now = at + Time::us(10) + Time::ns(i),
                     .path = {entropy},
                     .rtt = Time::us(10),
                     .ecn_marked = i < marks});
  }
}
std::uint32_t entropy_of(PathSelector& selector, Time now, std::uint32_t in_flight = 1) {
  return selector.next({.now = now, .in_flight = in_flight}).entropy;
}

TEST_CASE("plb: another path after twelve congested round trips, or after three if nothing is under way") {
  auto selector = make_selector_with("plb", {}, 3);
  const std::uint32_t first = entropy_of(*selector, Time());
  Time now = Time::us(1);
  // The first ACK is of the round trip that began before; each call ends one then, by its first ACK, which
  // counts the marks of those before it.
  const auto rounds = [&](int count, int marks) {
    for (int i = 0; i < count; ++i, now += Time::us(20)) round_trip(*selector, now, 10, marks);
  };
  rounds(1, 0);
  SECTION("half marked is congested, less is not") {
    rounds(40, 4);
    REQUIRE(entropy_of(*selector, now, 0) == first);
    REQUIRE(counted[0] == 0);
    rounds(11, 5);
    REQUIRE(entropy_of(*selector, now) == first);
    rounds(2, 5);
    REQUIRE(entropy_of(*selector, now) != first);
    REQUIRE(counted[0] == 1);
  }
  SECTION("an idle one needs three") {
    rounds(2, 10);
    REQUIRE(entropy_of(*selector, now, 0) == first);
    rounds(2, 10);
    REQUIRE(entropy_of(*selector, now, 1) == first);
    REQUIRE(entropy_of(*selector, now, 0) != first);
    REQUIRE(counted[0] == 1);
  }
  SECTION("one that is not congested between them starts the count anew") {
    for (int i = 0; i < 10; ++i) {
      rounds(10, 10);
      rounds(2, 0);
    }
    REQUIRE(entropy_of(*selector, now) == first);
  }
  SECTION("a timeout changes the path at once, and then nothing does for one to two milliseconds") {
    selector->on_timeout(now);
    const Time end = now + Time::us(1'000);
    const std::uint32_t second = entropy_of(*selector, now);
    REQUIRE(second != first);
    while (now + Time::us(20) < end) rounds(1, 10);
    REQUIRE(entropy_of(*selector, now, 0) == second);
    REQUIRE(counted[0] == 0);
    REQUIRE(counted[1] == 1);
    while (now < end + Time::us(1'020)) rounds(1, 10);
    REQUIRE(entropy_of(*selector, now) != second);
    REQUIRE(counted[0] >= 1);
  }
}

TEST_CASE("flowbender: another path after a round trip with more than T marked, and after a timeout") {
  auto selector = make_selector_with("flowbender", {{"threshold", "0.2"}, {"rounds", "2"}}, 3);
  const std::uint32_t first = entropy_of(*selector, Time());
  Time now = Time::us(1);
  const auto rounds = [&](int count, int marks) {
    for (int i = 0; i < count; ++i, now += Time::us(20)) round_trip(*selector, now, 10, marks);
  };
  rounds(20, 2);  // no more than T
  REQUIRE(entropy_of(*selector, now) == first);
  rounds(2, 3);  // the second is not over
  rounds(2, 0);
  REQUIRE(entropy_of(*selector, now) == first);
  rounds(3, 3);
  const std::uint32_t second = entropy_of(*selector, now);
  REQUIRE(second != first);
  REQUIRE(counted[0] == 1);
  // News of the path that was left says nothing of this one.
  for (int i = 0; i < 100; ++i, now += Time::us(20)) {
    selector->on_ack({.now = now, .path = {first}, .rtt = Time::us(10), .ecn_marked = true});
  }
  REQUIRE(entropy_of(*selector, now) == second);
  selector->on_timeout(now);
  REQUIRE(entropy_of(*selector, now) != second);
  REQUIRE(counted[1] == 1);
}

TEST_CASE("plb, flowbender, reps: what their parameters must be") {
  const auto fails = [](const std::string& name, const std::string& parameter, const std::string& value,
                        const std::string& why) {
    CHECK_THROWS_WITH(make_selector_with(name, {{parameter, value}}, 1),
                      name + ": " + parameter + " is '" + value + "', but it must be " + why);
  };
  for (const std::string name : {"plb", "flowbender"}) {
    fails(name, "threshold", "0", "above 0 and at most 1");
    fails(name, "threshold", "1.5", "above 0 and at most 1");
  }
  fails("reps", "freeze", "7200s", "from 0 to 3600s");
  fails("reps", "trigger", "mark", "timeout or loss");
  fails("plb", "rounds", "-1", "from 0 to 1000000");
  fails("flowbender", "rounds", "0", "from 1 to 1000000");
  fails("plb", "suspend", "7200s", "from 0 to 3600s");
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

TEST_CASE("results say what a policy doesn't make of a run") {
  const topologies::Topology topology = topologies::build(parse_module_choice("single_switch:hosts=2"));
  const RoutingTable table(topology);
  const auto remarks = [&](const std::string& text, const RunTraits& traits) {
    const ModuleChoice choice = parse_module_choice(text);
    const Policy& found = find_module(policies(), choice, "routing policy");
    const Parameters given(found.info, choice);
    return run_remarks(found.configured(given), {given, topology, table}, traits);
  };
  const RunTraits packets, fluids{.has_packets = false}, slowed{.rates_change = true};
  // Parameters that matter to packets only, if they were given.
  CHECK(remarks("reps:freeze=1ms", packets).empty());
  CHECK(remarks("reps", fluids).empty());
  CHECK(remarks("reps:freeze=1ms", fluids).size() == 1);
  CHECK(remarks("srv6:paths=8,probe=2ms", fluids).size() == 1);
  CHECK(remarks("k_shortest:k=4", fluids).empty());
  CHECK(remarks("k_shortest:k=4,per=packet", fluids).size() == 1);
  // Loads in shares of the rates that links were built with.
  CHECK(remarks("dlb", packets).empty());
  for (const char* text : {"dlb", "flowlet:choice=congestion"}) {
    REQUIRE(remarks(text, slowed).size() == 1);
    CHECK_THAT(remarks(text, slowed)[0], Catch::Contains("relative to the rates that links were built with"));
  }
  for (const char* text : {"flowlet", "wcmp", "switch_spray:choice=weighted", "ecmp"}) {
    CHECK(remarks(text, slowed).empty());
  }
}

}  // namespace weft::routing
