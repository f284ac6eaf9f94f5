#include "sim/flow/completions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "sim/units/random.h"

namespace weft::sim::flow {

TEST_CASE("the earliest comes first, whatever was changed and taken out before") {
  RandomStream random(1, 9);
  Completions completions;
  std::map<std::uint32_t, Time> naive;  // by flow
  for (int step = 0; step < 20'000; ++step) {
    const auto flow = static_cast<std::uint32_t>(random.below(200));
    switch (random.below(4)) {
      case 0:
      case 1: {
        const Time time = Time::ps(static_cast<std::int64_t>(random.below(1000)));
        completions.set(flow, time);
        naive[flow] = time;
        break;
      }
      case 2:
        completions.erase(flow);
        naive.erase(flow);
        break;
      default: {
        if (naive.empty()) break;
        Time first = Time::max();
        for (const auto& [number, time] : naive) first = std::min(first, time);
        REQUIRE(completions.first() == first);
        const std::uint32_t taken = completions.pop();
        REQUIRE(naive.at(taken) == first);
        naive.erase(taken);
      }
    }
    REQUIRE(completions.size() == naive.size());
    REQUIRE(completions.empty() == naive.empty());
  }
}

}  // namespace weft::sim::flow
