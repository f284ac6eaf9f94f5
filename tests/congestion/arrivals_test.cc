#include "congestion/arrivals.h"

#include <catch2/catch.hpp>
#include <set>

#include "sim/core/random.h"

namespace weft::congestion {
namespace {

TEST_CASE("arrivals against a set: any order within a span, with duplicates") {
  const std::uint32_t span = GENERATE(1u, 2u, 63u, 64u, 65u, 200u, 3000u);
  Arrivals arrivals;
  for (std::uint64_t round = 0; round < 3; ++round) {  // the object is used again
    arrivals.clear();
    std::set<std::uint32_t> reference;
    sim::RandomStream random(9, span, round);
    std::uint32_t missing = 0;
    for (int i = 0; i < 30'000; ++i) {
      // Up to `span` ahead of the first missing one, now and then behind it.
      std::uint32_t number = missing + static_cast<std::uint32_t>(random.below(span));
      if (random.below(10) == 0) number -= std::min(number, static_cast<std::uint32_t>(random.below(100)));
      REQUIRE(arrivals.add(number) == reference.insert(number).second);
      while (reference.count(missing) != 0) ++missing;
      REQUIRE(arrivals.first_missing() == missing);
    }
    REQUIRE(missing > 0);
  }
}

}  // namespace
}  // namespace weft::congestion
