#include "sim/results/open_loop.h"

#include <catch2/catch.hpp>
#include <vector>

namespace weft::results {
namespace {

Flow flow(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes, int start_us, int finish_us) {
  return {.source = source,
          .destination = destination,
          .bytes = bytes,
          .start = Time::us(start_us),
          .finish = Time::us(finish_us)};
}

}  // namespace

TEST_CASE("open loop: of a window, what begins in it is offered, and what ends in it accepted") {
  // 10 us of 16 Gb/s: 20,000 bytes.
  const OpenLoopWindow window{Time::us(10), Time::us(20), 0.5, 16e9};
  const std::vector<Flow> flows = {
      flow(0, 1, 1'000, 2, 9),     // before
      flow(0, 1, 2'000, 9, 10),    // ends in it
      flow(0, 1, 4'000, 10, 12),   // begins and ends in it
      flow(1, 0, 6'000, 19, 20),   // begins in it
      flow(0, 1, 8'000, 20, 21),   // after
      flow(1, 1, 16'000, 12, 13),  // within one host
  };
  const OpenLoop figures = open_loop(window, flows);
  CHECK(figures.offered == 0.5);
  CHECK(figures.accepted == Approx(0.3));
  CHECK_FALSE(keeps_up(figures));
  REQUIRE(figures.times.completion.count() == 2);
  CHECK(figures.times.completion.largest() == 2'000'000);  // picoseconds
  CHECK(keeps_up(open_loop(window, std::vector{flow(0, 1, 10, 10, 12)})));
  CHECK(open_loop(window, {}).times.completion.count() == 0);
}

}  // namespace weft::results
