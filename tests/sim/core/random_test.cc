#include "sim/core/random.h"

#include <array>
#include <catch2/catch.hpp>
#include <set>

namespace weft::sim {
namespace {

TEST_CASE("mix64 is SplitMix64's finalizer: published outputs for the seed 1234567") {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
  const std::array<std::uint64_t, 5> published{6457827717110365317ULL, 3203168211198807973ULL,
                                               9817491932198370423ULL, 4593380528125082431ULL,
                                               16408922859458223821ULL};
  for (std::uint64_t i = 0; i < published.size(); ++i) {
    REQUIRE(mix64(1234567 + kGolden * (i + 1)) == published[i]);
  }
}

TEST_CASE("a stream depends on seed, entity and purpose only") {
  RandomStream a(1, 2, 3), b(1, 2, 3);
  for (int i = 0; i < 100; ++i) REQUIRE(a.next() == b.next());
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t entity = 0; entity < 100; ++entity) {
      for (std::uint64_t purpose = 0; purpose < 3; ++purpose) {
        firsts.insert(RandomStream(seed, entity, purpose).next());
      }
    }
  }
  REQUIRE(firsts.size() == 3000);
}

TEST_CASE("below and uniform are uniform: chi-squared with 9 degrees of freedom") {
  RandomStream random(42, 7);
  std::array<double, 10> whole{}, real{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t n = random.below(10);
    REQUIRE(n < 10);
    ++whole[n];
    const double u = random.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++real[static_cast<std::size_t>(u * 10)];
  }
  for (const auto& counts : {whole, real}) {
    double chi_squared = 0;
    for (double count : counts)
      chi_squared += (count - kDraws / 10.0) * (count - kDraws / 10.0) / (kDraws / 10.0);
    REQUIRE(chi_squared < 27.9);  // one in a thousand is above
  }
}

}  // namespace
}  // namespace weft::sim
