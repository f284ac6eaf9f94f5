#include "sim/results/distribution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/units/random.h"

namespace weft::results {
namespace {

// What the definition says, from the sorted values: the value of rank ceil(count × per_mille / 1000), from 1.
std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, std::uint32_t per_mille) {
  const auto rank = static_cast<std::size_t>(
      std::ceil(static_cast<long double>(sorted.size()) * per_mille / static_cast<long double>(1000)));
  return sorted[std::max<std::size_t>(1, rank) - 1];
}

// Values of every magnitude.
std::vector<std::uint64_t> draw(std::uint64_t seed, std::size_t count) {
  RandomStream random(seed, 0, 0);
  const int most_bits = 1 + static_cast<int>(random.next() % 63);
  std::vector<std::uint64_t> values;
  while (values.size() < count) {
    const int bits = 1 + static_cast<int>(random.next() % static_cast<std::uint64_t>(most_bits));
    values.push_back(random.next() >> (64 - bits));
  }
  return values;
}

Distribution distribution_of(const std::vector<std::uint64_t>& values) {
  Distribution distribution;
  for (const std::uint64_t value : values) distribution.add(value);
  return distribution;
}

bool equal(const Distribution& a, const Distribution& b) {
  bool same =
      a.count() == b.count() && a.mean() == b.mean() && a.least() == b.least() && a.largest() == b.largest();
  for (std::uint32_t p = 0; p <= 1000; ++p) same = same && a.percentile(p) == b.percentile(p);
  return same;
}

}  // namespace

TEST_CASE("distribution: nothing in it") {
  const Distribution empty;
  CHECK(empty.count() == 0);
  CHECK(empty.mean() == 0);
  CHECK(empty.least() == 0);
  CHECK(empty.largest() == 0);
  CHECK(empty.percentile(500) == 0);
}

TEST_CASE("distribution: ten values by hand") {
  // Below 512 every value is kept exactly.
  const Distribution ten = distribution_of({90, 10, 80, 20, 70, 30, 60, 40, 50, 100});
  CHECK(ten.mean() == 55);
  CHECK(ten.percentile(0) == 10);
  CHECK(ten.percentile(100) == 10);
  CHECK(ten.percentile(101) == 20);
  CHECK(ten.percentile(500) == 50);
  CHECK(ten.percentile(501) == 60);
  CHECK(ten.percentile(900) == 90);
  CHECK(ten.percentile(950) == 100);
  CHECK(ten.percentile(999) == 100);
}

TEST_CASE("distribution: equal values come back exactly, however large") {
  for (const std::uint64_t value : {0ULL, 511ULL, 512ULL, 1234567891ULL, ~0ULL}) {
    const Distribution one = distribution_of({value, value, value});
    for (const std::uint32_t p : {0u, 500u, 1000u}) CHECK(one.percentile(p) == value);
    CHECK(one.mean() == Approx(static_cast<double>(value)));
  }
}

TEST_CASE("distribution: percentiles are within 1/512 of those of the sorted values") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<std::uint64_t> values = draw(seed, 1 + seed * 7 % 400);
    const Distribution distribution = distribution_of(values);
    std::sort(values.begin(), values.end());
    CHECK(distribution.least() == values.front());
    CHECK(distribution.largest() == values.back());
    const long double sum = std::accumulate(values.begin(), values.end(), 0.0L);
    CHECK(distribution.mean() == Approx(static_cast<double>(sum / static_cast<long double>(values.size()))));
    for (const std::uint32_t p : {0u, 1u, 100u, 250u, 500u, 900u, 950u, 990u, 999u, 1000u}) {
      const auto exact = static_cast<long double>(nearest_rank(values, p));
      const auto found = static_cast<long double>(distribution.percentile(p));
      CAPTURE(seed, p, exact, found);
      CHECK(std::abs(found - exact) <= exact / 512);
    }
  }
}

TEST_CASE("distribution: parts merged in any order are the whole") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<std::uint64_t> values = draw(seed, 300);
    Distribution parts[3];
    for (std::size_t i = 0; i < values.size(); ++i) parts[values[i] % 3].add(values[i]);
    Distribution forth, back;
    for (int i = 0; i < 3; ++i) {
      forth.merge(parts[i]);
      back.merge(parts[2 - i]);
    }
    const Distribution whole = distribution_of(values);
    CHECK(equal(forth, whole));
    CHECK(equal(back, whole));
  }
}

}  // namespace weft::results
