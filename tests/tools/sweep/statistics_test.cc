#include "tools/sweep/statistics.h"

#include <catch2/catch.hpp>
#include <vector>

namespace weft::sweep {
namespace {

// 95% lie between -t and t, as in any table of Student's distribution, e.g. NIST/SEMATECH e-Handbook of
// Statistical Methods, section 1.3.6.7.2 (column 0.975).
TEST_CASE("Quantiles of Student's distribution are those published") {
  CHECK(student_95(1) == Approx(12.706).margin(5e-4));
  CHECK(student_95(2) == Approx(4.303).margin(5e-4));
  CHECK(student_95(4) == Approx(2.776).margin(5e-4));
  CHECK(student_95(9) == Approx(2.262).margin(5e-4));
  CHECK(student_95(30) == Approx(2.042).margin(5e-4));
  CHECK(student_95(100) == Approx(1.984).margin(5e-4));
  CHECK(student_95(100000) == Approx(1.960).margin(5e-4));
}

TEST_CASE("A mean and its interval, by hand") {
  // Mean 3, variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5; standard error sqrt(2.5 / 5).
  const Estimate e = estimate(std::vector<double>{1, 2, 3, 4, 5});
  CHECK(e.mean == Approx(3));
  CHECK(e.variance == Approx(2.5));
  CHECK(*e.high - 3 == Approx(2.7764 * 0.70711).epsilon(1e-4));
  CHECK(3 - *e.low == Approx(*e.high - 3));
  CHECK(*e.relative_width() == Approx(0.65441).epsilon(1e-4));
}

TEST_CASE("A single value has no interval, equal ones have one without width") {
  CHECK_FALSE(estimate(std::vector<double>{7}).low);
  const Estimate e = estimate(std::vector<double>{0.1, 0.1, 0.1});
  CHECK(*e.low == 0.1);
  CHECK(*e.high == 0.1);
}

TEST_CASE("Means within their spread are a tie") {
  const Estimate a = estimate(std::vector<double>{10, 12, 14});
  // The difference's interval: standard error sqrt(4/3 + 4/3) = 1.633, 4 degrees of freedom: 2.776 * 1.633 =
  // 4.53.
  CHECK(*tie(a, estimate(std::vector<double>{14.5, 16.5, 18.5})));
  CHECK_FALSE(*tie(a, estimate(std::vector<double>{14.6, 16.6, 18.6})));
  CHECK_FALSE(*tie(estimate(std::vector<double>{5, 5}), estimate(std::vector<double>{5.1, 5.1})));
  CHECK(*tie(estimate(std::vector<double>{5}), estimate(std::vector<double>{5})));
  CHECK_FALSE(tie(estimate(std::vector<double>{5}), estimate(std::vector<double>{6})));
}

}  // namespace
}  // namespace weft::sweep
