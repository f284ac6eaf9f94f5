// Sizes of packets against a plain list of them.
#include "congestion/packet_sizes.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/units/random.h"

namespace weft::congestion {
namespace {

TEST_CASE("every packet of every message that isn't forgotten has its size") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 20)));
  RandomStream random(seed, 0);
  PacketSizes sizes(1000);
  std::vector<std::uint32_t> naive;
  std::uint32_t first = 0;
  const bool small_ones = random.below(2) == 0;
  for (int step = 0; step < 2000; ++step) {
    if (random.below(3) != 0) {
      const auto packets = static_cast<std::uint32_t>(1 + random.below(small_ones ? 2 : 50));
      const auto last = static_cast<std::uint32_t>(random.below(1001));
      sizes.append(packets, last);
      naive.insert(naive.end(), packets - 1, 1000);
      naive.push_back(last);
    } else {
      first += static_cast<std::uint32_t>(random.below(naive.size() - first + 1));
      sizes.forget_below(first);
      if (first == naive.size() && random.below(2) == 0) sizes.rest();
    }
    REQUIRE(sizes.end() == naive.size());
    for (int look = 0; look < 5 && first < naive.size(); ++look) {
      const auto number = first + static_cast<std::uint32_t>(random.below(naive.size() - first));
      REQUIRE(sizes.of(number) == naive[number]);
    }
  }
}

}  // namespace
}  // namespace weft::congestion
