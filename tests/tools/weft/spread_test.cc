#include "tools/weft/spread.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace weft::cli {
namespace {

TEST_CASE("the interval has Student's quantiles") {
  // 2.776, 12.706 and 2.262: t(0.975) for 4, 1 and 9 degrees of freedom, from any table. The standard error
  // of 1, 2, … 5 is sqrt(2.5 / 5).
  const Spread five = spread_of(std::vector<double>{1, 2, 3, 4, 5});
  CHECK(five.mean == 3);
  CHECK(five.high - five.mean == Approx(2.776 * std::sqrt(0.5)).epsilon(1e-3));
  CHECK(five.mean - five.low == Approx(five.high - five.mean));
  const Spread two = spread_of(std::vector<double>{10, 12});
  CHECK(two.high == Approx(11 + 12.706 * 1).epsilon(1e-3));
  const Spread ten = spread_of(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(ten.high - 5.5 == Approx(2.262 * std::sqrt(55.0 / 6 / 10)).epsilon(1e-3));
}

TEST_CASE("one run, and equal runs, have no spread") {
  const Spread one = spread_of(std::vector<double>{7});
  CHECK((one.low == 7 && one.mean == 7 && one.high == 7));
  const Spread same = spread_of(std::vector<double>{7, 7, 7});
  CHECK((same.low == 7 && same.high == 7));
}

TEST_CASE("what overlaps is a tie") {
  CHECK(is_tie({2, 1, 3}, {3.5, 3, 4}));
  CHECK_FALSE(is_tie({2, 1, 3}, {4, 3.1, 5}));
  CHECK(is_tie({2, 1.9, 2.1}, {2, 1, 3}));
}

}  // namespace
}  // namespace weft::cli
