#include "goal/transform/perturb.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>

#include "goal/text/text.h"
#include "goal/transform/detours.h"
#include "goal/transform/merge.h"
#include "goal/transform/noise.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

using namespace weft;
using namespace weft::goal;

namespace {

Graph perturbed(const Graph& graph, const std::vector<std::string>& noises,
                const PerturbOptions& options = {}) {
  std::vector<ModuleChoice> choices;
  for (const std::string& text : noises) choices.push_back(parse_module_choice(text));
  return perturb(graph, choices, options);
}

// `count` calcs of `ns` on each of `ranks` ranks.
Graph calcs(Rank ranks, int count, std::uint64_t ns) {
  GraphBuilder builder;
  for (Rank r = 0; r < ranks; ++r) {
    for (int i = 0; i < count; ++i) builder.add_calc(ns);
    builder.end_rank();
  }
  return builder.finish();
}

double total(const Graph& graph, Rank r) {
  double sum = 0;
  for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) sum += static_cast<double>(graph.rank(r).value(i));
  return sum;
}

std::vector<std::uint64_t> values(const Graph& graph, Rank r) {
  std::vector<std::uint64_t> list;
  for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) list.push_back(graph.rank(r).value(i));
  return list;
}

std::string file_with(const std::string& text) {
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : "/tmp") + "/noise.txt";
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST_CASE("noise of no strength changes nothing") {
  RandomGraphOptions narrow;
  narrow.wide = false;  // detours keep times below 2^62 ns
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(seed), small = random_graph(seed, narrow);
    for (const char* noise : {"gaussian:sigma=0", "exponential:mean=0", "stragglers:count=0",
                              "stragglers:factor=1", "slowdown:most=0"}) {
      INFO(noise << ", seed " << seed);
      REQUIRE(perturbed(graph, {noise}) == graph);
    }
    REQUIRE(perturbed(small, {"periodic:length=0"}) == small);
    REQUIRE(perturbed(small, {"delay:most=0"}) == small);
    REQUIRE(perturbed(graph, {}) == graph);
  }
}

TEST_CASE("noise touches calcs only, and those of the chosen ranks and cpu") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomGraphOptions narrow;
    narrow.wide = false;
    const Graph graph = random_graph(seed, narrow);
    const Graph noisy = perturbed(graph, {"exponential:mean=3"},
                                  {.ranks = RankList("0", graph.ranks(), "x"), .cpu = std::uint16_t{0}});
    for (Rank r = 0; r < graph.ranks(); ++r) {
      for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
        Op before = graph.rank(r).op(i);
        const Op after = noisy.rank(r).op(i);
        REQUIRE(after.value >= before.value);
        if (before.kind == OpKind::kCalc && r == 0 && before.cpu == 0) before.value = after.value;
        REQUIRE(before == after);
      }
    }
  }
}

TEST_CASE("a rank's noise does not depend on the ranks beside it") {
  const Graph one = calcs(4, 20, 1000000), other = calcs(3, 5, 777);
  const MergeJob jobs[] = {{&one, "a"}, {&other, "b"}};
  const Graph both = merge(jobs);
  for (const char* noise :
       {"gaussian", "exponential", "periodic:period=3ms,length=9us", "slowdown:most=2", "delay:most=9us"}) {
    const Graph alone = perturbed(one, {noise}), merged = perturbed(both, {noise});
    INFO(noise);
    for (Rank r = 0; r < 4; ++r) {
      REQUIRE(values(alone, r) == values(merged, r));
    }
    // Ranks are not in step (two of four may be, by chance).
    REQUIRE((values(alone, 0) != values(alone, 1) || values(alone, 2) != values(alone, 3)));
    REQUIRE_FALSE(perturbed(one, {noise}, {.seed = 2}) == alone);
    // The second of two equal models draws numbers of its own.
    if (std::string(noise) == "gaussian")
      REQUIRE_FALSE(perturbed(alone, {noise}) == perturbed(one, {noise, noise}));
  }
}

TEST_CASE("moments of random noise") {
  constexpr int kCalcs = 40000;
  constexpr double kNs = 1e6;
  const Graph graph = calcs(1, kCalcs, static_cast<std::uint64_t>(kNs));
  const auto moments = [&](const char* noise) {
    const Graph noisy = perturbed(graph, {noise});
    double mean = 0, variance = 0;
    for (OpIndex i = 0; i < kCalcs; ++i) mean += static_cast<double>(noisy.rank(0).value(i)) / kNs / kCalcs;
    for (OpIndex i = 0; i < kCalcs; ++i) {
      variance += std::pow(static_cast<double>(noisy.rank(0).value(i)) / kNs - mean, 2) / kCalcs;
    }
    return std::pair(mean, std::sqrt(variance));
  };
  // Five standard errors: sigma / sqrt(n) of a mean; of a deviation sigma / sqrt(2n) and sigma sqrt(2/n).
  const auto [mean, sigma] = moments("gaussian:sigma=0.2");
  REQUIRE(mean == Approx(1).margin(5 * 0.2 / std::sqrt(kCalcs)));
  REQUIRE(sigma == Approx(0.2).margin(5 * 0.2 / std::sqrt(2.0 * kCalcs)));
  const auto [added, spread] = moments("exponential:mean=0.5");
  REQUIRE(added == Approx(1.5).margin(5 * 0.5 / std::sqrt(kCalcs)));
  REQUIRE(spread == Approx(0.5).margin(5 * 0.5 * std::sqrt(2.0 / kCalcs)));
}

TEST_CASE("delays are even between 0 and the longest, whatever the calc") {
  constexpr int kCalcs = 40000;
  for (const std::uint64_t ns : {1ULL, 1'000'000ULL}) {
    const Graph noisy = perturbed(calcs(1, kCalcs, ns), {"delay:most=999ns"});
    double mean = 0;
    std::uint64_t least = UINT64_MAX, most = 0;
    for (OpIndex i = 0; i < kCalcs; ++i) {
      const std::uint64_t added = noisy.rank(0).value(i) - ns;
      mean += static_cast<double>(added) / kCalcs;
      least = std::min(least, added);
      most = std::max(most, added);
    }
    REQUIRE(least == 0);
    REQUIRE(most == 999);
    // Five standard errors of a mean of numbers that are even over 0 to 999.
    REQUIRE(mean == Approx(499.5).margin(5 * 288.7 / std::sqrt(kCalcs)));
  }
}

TEST_CASE("work among detours ends when a clock that ticks through it says so") {
  const std::vector<Detour> list{{3, 2}, {7, 0}, {9, 4}};
  constexpr std::uint64_t kCycle = 17;
  const Detours detours(list, kCycle);
  const auto stolen = [&](std::uint64_t t) {
    for (const Detour& d : list) {
      if (t % kCycle >= d.start_ns && t % kCycle < d.start_ns + d.length_ns) return true;
    }
    return false;
  };
  for (std::uint64_t begin = 0; begin < 3 * kCycle; ++begin) {
    std::uint64_t now = begin;
    for (std::uint64_t work = 1; work < 60; ++work) {
      while (stolen(now)) ++now;
      ++now;
      REQUIRE(detours.end_of_work(begin, work) == now);
    }
    REQUIRE(detours.end_of_work(begin, 0) == begin);
  }
}

TEST_CASE("periodic detours take their share: closed form") {
  // 900 us of work fit between two detours of 100 us; the rank begins right behind one.
  const Graph noisy = perturbed(calcs(1, 10, 2700000), {"periodic:period=1ms,length=100us,phase=100us"});
  REQUIRE(noisy.rank(0).value(0) == 2900000);  // two detours inside, none at the end
  for (OpIndex i = 1; i < 10; ++i) REQUIRE(noisy.rank(0).value(i) == 3000000);
  // One long calc instead of ten short ones is disturbed as much.
  const Graph whole = perturbed(calcs(1, 1, 27000000), {"periodic:period=1ms,length=100us,phase=100us"});
  REQUIRE(total(whole, 0) == total(noisy, 0));
  // In step or not is a matter of the phase.
  const Graph together = perturbed(calcs(2, 1, 500), {"periodic:period=10us,length=3us,phase=0"});
  REQUIRE(together.rank(0).value(0) == 3500);
  REQUIRE(together.rank(1).value(0) == 3500);
}

TEST_CASE("recorded detours repeat") {
  // 100 ns from 1000 on and 300 ns from 3000 on; the cycle is 3000 + (3000 - 1000) = 5000, with 4600 of work.
  const std::string path = file_with("# measured\n1000 100\n\n3us 300ns  # with units\n");
  const Graph noisy = perturbed(calcs(1, 3, 4600), {"recorded:phase=0,file=" + path});
  for (OpIndex i = 0; i < 3; ++i) REQUIRE(noisy.rank(0).value(i) == 5000);
  const Graph longer = perturbed(calcs(1, 1, 4600 * 3 + 100), {"recorded:phase=0,cycle=10us,file=" + path});
  REQUIRE(longer.rank(0).value(0) == 4600 * 3 + 100 + 400 + 400);
}

TEST_CASE("stragglers and slow ranks") {
  const Graph graph = calcs(10, 2, 100);
  const Graph named = perturbed(graph, {"stragglers:ranks=[0-1,7],factor=3"});
  for (Rank r = 0; r < 10; ++r) REQUIRE(total(named, r) == (r < 2 || r == 7 ? 600 : 200));
  const Graph drawn = perturbed(graph, {"stragglers:count=4,factor=3"});
  int slow = 0;
  for (Rank r = 0; r < 10; ++r) slow += total(drawn, r) == 600;
  REQUIRE(slow == 4);
  const Graph uneven = perturbed(calcs(10, 2, 100000), {"slowdown:most=0.5"});
  for (Rank r = 0; r < 10; ++r) {
    REQUIRE(uneven.rank(r).value(0) == uneven.rank(r).value(1));
    REQUIRE(total(uneven, r) >= 200000);
    REQUIRE(total(uneven, r) <= 300000);
  }
}

TEST_CASE("noise that makes no sense is refused, with the reason") {
  const Graph graph = calcs(2, 1, 100);
  const auto refuses = [&](const std::string& noise, const std::string& reason) {
    INFO(noise);
    REQUIRE_THROWS_WITH(perturbed(graph, {noise}), Catch::Contains(reason));
  };
  refuses("gausian", "did you mean 'gaussian'");
  refuses("gaussian:mean=3", "sigma");
  refuses("gaussian:sigma=-1", "it must be at least 0");
  refuses("periodic:period=1us,length=1us", "shorter than the period");
  refuses("stragglers:count=3", "from 0 to 2");
  refuses("stragglers:ranks=[2]", "rank 2 does not exist");
  refuses("recorded", "can't");
  refuses("recorded:file=" + file_with("10 5\n12 1\n"), ":2: the detour begins before");
  refuses("recorded:file=" + file_with("10 5 3\n"), ":1: 3 words");
  refuses("recorded:file=" + file_with("10 five\n"), ":1: ");
  refuses("recorded:file=" + file_with("# none\n"), "no detours");
  refuses("recorded:file=" + file_with("10 5\n"), "single detour");
  // Most of the time is taken: 2^62 ns of work would take more than 2^64.
  CHECK_THROWS_WITH(
      perturbed(calcs(1, 1, std::uint64_t{1} << 62), {"recorded:file=" + file_with("0 90\n95 90\n")}),
      Catch::Contains("longer than 2^62 ns"));
  refuses("recorded:cycle=12ns,file=" + file_with("10 5\n"), "ends at 15 ns");
}
