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

TEST_CASE("open loop: of a window, what begins in it is offered, and what moves in it accepted") {
  // 10 us of 16 Gb/s: 20,000 bytes.
  const OpenLoopWindow window{Time::us(10), Time::us(20), 0.5, 16e9};
  const std::vector<Flow> flows = {
      flow(0, 1, 1'000, 2, 9),     // before
      flow(0, 1, 2'000, 8, 12),    // half of it
      flow(0, 1, 4'000, 10, 12),   // begins and ends in it
      flow(1, 0, 6'000, 18, 24),   // begins in it; a third of it
      flow(0, 1, 8'000, 20, 21),   // after
      flow(1, 1, 16'000, 12, 13),  // within one host
  };
  const OpenLoop figures = open_loop(window, flows);
  CHECK(figures.offered == Approx(0.5));
  CHECK(figures.accepted == Approx((1'000 + 4'000 + 2'000) / 20'000.0));
  CHECK(figures.keeps_up);  // two messages under way may be chance
  REQUIRE(figures.times.completion.count() == 2);
  CHECK(figures.times.completion.largest() == 6'000'000);  // picoseconds
  CHECK(open_loop(window, {}).times.completion.count() == 0);
}

TEST_CASE("open loop: a network that falls behind by more than chance") {
  const OpenLoopWindow window{Time::us(0), Time::us(100), 1, 16e9};
  std::vector<Flow> kept, behind;
  for (int i = 0; i < 100; ++i) {
    kept.push_back(flow(0, 1, 1'000, i, i + 2));
    behind.push_back(flow(0, 1, 1'000, i, 2 * i + 2));  // half as fast as they come
  }
  CHECK(open_loop(window, kept).keeps_up);
  CHECK_FALSE(open_loop(window, behind).keeps_up);
}

}  // namespace weft::results
