#include "sim/flow/max_min.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "sim/units/random.h"
#include "tests/sim/flow/naive.h"

namespace weft::sim::flow {
namespace {

constexpr Rate kGbps = Rate{1'000'000'000} << kRateBits;

// A solver beside a list of its flows.
class Pair {
 public:
  explicit Pair(const std::vector<Rate>& capacities) : capacity_(capacities) {
    for (const Rate capacity : capacities) solver.add_resource(capacity);
  }
  void add(std::uint32_t flow, const std::vector<Use>& uses, std::uint32_t weight = 1, Rate cap = kMostRate) {
    solver.add(flow, uses, weight, cap);
    flows_[flow] = {uses, static_cast<double>(weight), static_cast<double>(cap)};
  }
  void remove(std::uint32_t flow) {
    solver.remove(flow);
    flows_.erase(flow);
  }
  void set_capacity(std::uint32_t resource, Rate capacity) {
    solver.set_capacity(resource, capacity);
    capacity_[resource] = capacity;
  }
  std::size_t size() const { return flows_.size(); }
  std::uint32_t nth(std::size_t n) const { return std::next(flows_.begin(), static_cast<long>(n))->first; }

  // "" if rates are those of the reference, what is given out is exactly what resources count and no more
  // than they have, and every flow has a bottleneck. `error`: in rates, of the flow's own and of the fastest
  // resource.
  std::string verdict(double error_of_own, double error_of_most) const {
    std::vector<NaiveFlow> flows;
    for (const auto& [number, flow] : flows_) flows.push_back(flow);
    const std::vector<double> expected =
        naive_rates(std::vector<double>(capacity_.begin(), capacity_.end()), flows);
    const auto most = static_cast<double>(*std::ranges::max_element(capacity_));
    std::vector<Rate> loads(capacity_.size());
    std::size_t i = 0;
    for (const auto& [number, flow] : flows_) {
      const Rate rate = solver.rate(number);
      // Caps are cut to multiples of weights.
      const double error = error_of_own * expected[i] + error_of_most * most + flow.weight;
      if (std::abs(static_cast<double>(rate) - expected[i]) > error) {
        return "flow " + std::to_string(number) + " has " + std::to_string(rate) + ", not " +
               std::to_string(expected[i]);
      }
      for (const Use& use : flow.uses) loads[use.resource] += part_of(rate, use.share);
      ++i;
    }
    for (std::uint32_t r = 0; r < loads.size(); ++r) {
      if (loads[r] != solver.load(r)) return "wrong load";
      if (loads[r] > capacity_[r]) return "a resource carries more than it can";
    }
    for (const auto& [number, flow] : flows_) {
      if (!has_bottleneck(number, flow)) return "flow " + std::to_string(number) + " has no bottleneck";
    }
    return "";
  }

  MaxMin solver;

 private:
  // Is it at its cap, or is the resource that the solver names full, and has nobody a higher level there?
  bool has_bottleneck(std::uint32_t number, const NaiveFlow& flow) const {
    const std::uint32_t r = solver.bottleneck(number);
    if (r == MaxMin::kOwnCap) return flow.cap - static_cast<double>(solver.rate(number)) < flow.weight;
    if (std::ranges::find(flow.uses, r, &Use::resource) == flow.uses.end()) return false;
    double demand = 0;
    for (const auto& [other, its] : flows_) {
      const auto use = std::ranges::find(its.uses, r, &Use::resource);
      if (use == its.uses.end()) continue;
      if (solver.level(other) > solver.level(number)) return false;
      demand += its.weight * use->share / kWhole;
    }
    const auto level = static_cast<double>(solver.level(number));
    const double lost = std::max(1.0, std::ldexp(level, 1 - MaxMin::kLevelBits)) * (demand + 1);
    return static_cast<double>(capacity_[r] - solver.load(r)) <= lost + static_cast<double>(flows_.size());
  }

  std::vector<Rate> capacity_;
  std::map<std::uint32_t, NaiveFlow> flows_;
};

// The first 40 digits of a level.
Rate digits(Rate level) {
  Rate unit = 1;
  while (level / unit >> MaxMin::kLevelBits > 0) unit *= 2;
  return level / unit * unit;
}

std::vector<Use> random_uses(RandomStream& random, std::uint32_t resources) {
  std::vector<Use> uses;
  const std::uint64_t count = 1 + random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto resource = static_cast<std::uint32_t>(random.below(resources));
    if (std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.resource == resource; }))
      continue;
    const std::uint64_t part = 1 + random.below(6);
    uses.push_back({resource, random.below(2) == 0 ? kWhole : static_cast<std::uint32_t>(kWhole / part)});
  }
  return uses;
}

}  // namespace

TEST_CASE("equal flows share a link equally, and weights count") {
  Pair pair({100 * kGbps});
  for (std::uint32_t flow = 0; flow < 4; ++flow) pair.add(flow, {{0}});
  pair.solver.solve();
  for (std::uint32_t flow = 0; flow < 4; ++flow) CHECK(pair.solver.rate(flow) == 25 * kGbps);
  pair.add(4, {{0}}, 3);
  pair.remove(0);
  pair.solver.solve();
  // Three shares and three more, for one flow.
  CHECK(pair.solver.rate(1) == digits(100 * kGbps / 6));
  CHECK(pair.solver.rate(4) == digits(100 * kGbps / 6) * 3);
  CHECK(pair.verdict(1e-11, 0) == "");
}

// 100 flows: each that comes or goes changes the level by 1%, and the slack is 2.5%.
TEST_CASE("a resource with slack keeps its level as long as that is near, and then has the exact one") {
  Pair pair({100 * kGbps, 1000 * kGbps});
  pair.solver.set_slack(0, 0.025);
  for (std::uint32_t flow = 0; flow < 100; ++flow) pair.add(flow, {{0}});
  pair.solver.solve();
  CHECK(pair.verdict(1e-11, 0) == "");
  for (std::uint32_t flow = 100; flow < 102; ++flow) {
    pair.add(flow, {{0}, {1}});
    pair.solver.solve();
    CHECK(pair.solver.rate(0) == digits(kGbps));
    CHECK(pair.solver.rate(flow) == digits(kGbps));
  }
  const std::uint64_t before = pair.solver.work();
  pair.remove(0);
  pair.solver.solve();
  CHECK(pair.solver.work() == before);  // nobody was looked at
  pair.add(102, {{0}});
  pair.add(103, {{0}});
  pair.solver.solve();
  CHECK(pair.verdict(1e-11, 0) == "");
  pair.set_capacity(0, 99 * kGbps);  // it is told anew, so nothing is left of the old level
  pair.solver.solve();
  CHECK(pair.verdict(1e-11, 0) == "");
}

TEST_CASE("the parking lot: one flow over n links, and one on each") {
  constexpr std::uint32_t kLinks = 7;
  std::vector<Rate> capacities(kLinks, 100 * kGbps);
  capacities[3] = 40 * kGbps;
  Pair pair(capacities);
  std::vector<Use> all;
  for (std::uint32_t link = 0; link < kLinks; ++link) all.push_back({link});
  pair.add(0, all);
  for (std::uint32_t link = 0; link < kLinks; ++link) pair.add(link + 1, {{link}});
  pair.solver.solve();
  // The long flow gets half of the slow link, and the others what that leaves.
  CHECK(pair.solver.rate(0) == 20 * kGbps);
  CHECK(pair.solver.rate(4) == 20 * kGbps);
  CHECK(pair.solver.rate(1) == 80 * kGbps);
  pair.remove(4);
  pair.solver.solve();
  CHECK(pair.solver.rate(0) == 40 * kGbps);
  CHECK(pair.solver.rate(1) == 60 * kGbps);
  CHECK(pair.verdict(1e-11, 0) == "");
}

TEST_CASE("what a capped flow leaves goes to the others, and a link without capacity stops its flows") {
  Pair pair({100 * kGbps, 50 * kGbps});
  pair.add(0, {{0}}, 1, 10 * kGbps);
  pair.add(1, {{0}});
  pair.add(2, {{0}, {1}});
  pair.solver.solve();
  CHECK(pair.solver.rate(0) == 10 * kGbps);
  CHECK(pair.solver.rate(1) == 45 * kGbps);
  pair.set_capacity(1, 0);
  pair.solver.solve();
  CHECK(pair.solver.rate(2) == 0);
  CHECK(pair.solver.rate(1) == 90 * kGbps);
  pair.set_capacity(1, 20 * kGbps);
  pair.solver.solve();
  CHECK(pair.solver.rate(2) == 20 * kGbps);
  CHECK(pair.solver.rate(1) == 70 * kGbps);
}

TEST_CASE("only flows that may change are looked at") {
  // 1,000 pairs of flows, each with a link of its own, and all over a link that is never full.
  std::vector<Rate> capacities(1001, kGbps);
  capacities[1000] = 5000 * kGbps;
  Pair pair(capacities);
  for (std::uint32_t flow = 0; flow < 2000; ++flow) pair.add(flow, {{flow / 2}, {1000}});
  pair.solver.solve();
  const std::uint64_t before = pair.solver.work();
  pair.remove(7);
  const MaxMin::Changes changes = pair.solver.solve();
  REQUIRE(changes.groups.size() == 1);
  CHECK(changes.groups.front() == 3);
  CHECK(changes.moves.empty());
  CHECK(pair.solver.rate(6) == kGbps);
  CHECK(pair.solver.work() == before + 1);
}

TEST_CASE("where nobody waits for a link, another capacity concerns nobody unless it gets full") {
  // Ten flows at links of their own, and all over one more.
  std::vector<Rate> capacities(11, kGbps);
  capacities[10] = 20 * kGbps;
  Pair pair(capacities);
  for (std::uint32_t flow = 0; flow < 10; ++flow) pair.add(flow, {{flow}, {10}});
  pair.solver.solve();
  const std::uint64_t before = pair.solver.work();
  for (const Rate gbps : {30, 11, 10}) {
    pair.set_capacity(10, gbps * kGbps);
    pair.solver.solve();
    CHECK(pair.solver.work() == before);
    CHECK(pair.verdict(1e-11, 0) == "");
  }
  pair.set_capacity(10, 5 * kGbps);
  pair.solver.solve();
  CHECK(pair.solver.work() > before);
  CHECK(pair.verdict(1e-11, 0) == "");
}

// All flows cross link 0 and one of 24 others each. With link 0 narrow they have their rates there and get
// others as a group; wider, some are held up on their own links; and in between both happens in turn.
TEST_CASE("rates are those of progressive filling where a whole group gets another level with each flow") {
  for (const std::int64_t gbps : {10, 60, 150, 400}) {
    std::vector<Rate> capacities(25, 10 * kGbps);
    capacities[0] = gbps * kGbps;
    Pair pair(capacities);
    pair.solver.set_slack(0,
                          1e-30);  // nearly none: it is treated as others with slack, and has its exact level
    const auto uses = [](std::uint32_t flow) {
      return std::vector<Use>{{0, kWhole / (1 + flow % 3)}, {1 + flow * 7 % 24}};
    };
    for (std::uint32_t flow = 0; flow < 40; ++flow) {
      pair.add(flow, uses(flow), 1, flow % 11 == 0 ? kGbps : kMostRate);
    }
    pair.solver.solve();
    CHECK(pair.verdict(1e-9, 1e-9) == "");
    for (std::uint32_t flow = 40; flow < 140; ++flow) {
      if (flow % 4 < 2) pair.add(flow, uses(flow));
      if (flow % 4 > 0) pair.remove(pair.nth(flow * 13 % pair.size()));
      if (flow % 20 == 0) pair.set_capacity(0, (gbps + flow % 3) * kGbps);
      pair.solver.solve();
      INFO(gbps << " Gb/s, " << flow);
      CHECK(pair.verdict(1e-9, 1e-9) == "");
    }
  }
}

// Whether weights, caps, parts of flows and links that change take part; and whether links are treated as
// those with slack, of which they have next to none.
enum class Mix { kPlain, kAll, kSlack };

// Flows come and go, one at a time and several at once.
void come_and_go(Pair& pair, RandomStream& random, std::uint32_t resources, Mix mix) {
  const bool all = mix != Mix::kPlain;
  std::uint32_t next = 0;
  for (int step = 0; step < 40; ++step) {
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      std::vector<Use> uses = random_uses(random, resources);
      std::uint32_t weight = 1;
      Rate cap = kMostRate;
      if (all) {
        if (random.below(3) == 0) weight += static_cast<std::uint32_t>(random.below(MaxMin::kMostWeight));
        if (random.below(4) == 0) cap = static_cast<Rate>(1 + random.below(40)) * kGbps;
      } else {
        for (Use& use : uses) use.share = kWhole;
      }
      pair.add(next++, uses, weight, cap);
    }
    for (std::uint64_t n = random.below(3); n > 0 && pair.size() > 0; --n)
      pair.remove(pair.nth(random.below(pair.size())));
    if (all && random.below(6) == 0) {
      pair.set_capacity(static_cast<std::uint32_t>(random.below(resources)),
                        static_cast<Rate>(random.below(5)) * 20 * kGbps);
    }
    if (random.below(3) == 0) continue;  // several changes at once
    pair.solver.solve();
    // Levels have 40 digits, and what one flow doesn't get for that is left to others.
    const std::string verdict = all ? pair.verdict(1e-9, 1e-9) : pair.verdict(1e-10, 0);
    RC_ASSERT(verdict == "");
  }
}

TEST_CASE("rates are those of progressive filling over all flows, whatever came and went before") {
  for (const Mix mix : {Mix::kPlain, Mix::kAll, Mix::kSlack}) {
    const bool holds = rc::check("same rates", [mix] {
      RandomStream random(*rc::gen::arbitrary<std::uint64_t>(), 1);
      std::vector<Rate> capacities(1 + random.below(12));
      for (Rate& capacity : capacities) {
        // Few different ones, so that there are ties.
        capacity = static_cast<Rate>(1 + random.below(4)) * 25 * kGbps +
                   static_cast<Rate>(random.below(2) * random.below(1 << 20));
      }
      Pair pair(capacities);
      for (std::uint32_t r = 0; mix == Mix::kSlack && r < capacities.size(); ++r)
        pair.solver.set_slack(r, 1e-30);
      come_and_go(pair, random, static_cast<std::uint32_t>(capacities.size()), mix);
    });
    CHECK(holds);
  }
}

TEST_CASE("the order in which flows come and go at one moment makes no difference") {
  const bool holds = rc::check("same rates", [] {
    RandomStream random(*rc::gen::arbitrary<std::uint64_t>(), 2);
    const std::vector<Rate> capacities(6, 100 * kGbps);
    Pair a(capacities), b(capacities);
    std::vector<std::vector<Use>> uses;
    for (int i = 0; i < 30; ++i) uses.push_back(random_uses(random, 6));
    for (std::uint32_t flow = 0; flow < 20; ++flow) a.add(flow, uses[flow]);
    for (std::uint32_t flow = 20; flow-- > 0;) b.add(flow, uses[flow]);
    a.solver.solve();
    b.solver.solve();
    for (std::uint32_t flow = 0; flow < 10; ++flow) a.remove(flow);
    for (std::uint32_t flow = 20; flow < 30; ++flow) a.add(flow, uses[flow]);
    for (std::uint32_t flow = 10; flow-- > 0;) {
      b.add(flow + 20, uses[flow + 20]);
      b.remove(flow);
    }
    a.solver.solve();
    b.solver.solve();
    for (std::uint32_t flow = 10; flow < 30; ++flow) RC_ASSERT(a.solver.rate(flow) == b.solver.rate(flow));
  });
  CHECK(holds);
}

}  // namespace weft::sim::flow
