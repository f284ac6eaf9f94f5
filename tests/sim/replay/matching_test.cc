#include "sim/replay/matching.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>

#include "sim/core/random.h"

using weft::goal::kAny;
using weft::sim::Matching;
using weft::sim::MatchKey;
using weft::sim::RandomStream;

namespace {

// The textbook form: two lists, searched from the oldest on.
class NaiveMatching {
 public:
  std::uint32_t post(const MatchKey& key, std::uint32_t receive) {
    return take_or_queue(unexpected_, posted_, key, receive,
                         [&](const MatchKey& m) { return key.accepts(m); });
  }
  std::uint32_t arrive(const MatchKey& key, std::uint32_t message) {
    return take_or_queue(posted_, unexpected_, key, message,
                         [&](const MatchKey& r) { return r.accepts(key); });
  }

 private:
  using List = std::list<std::pair<MatchKey, std::uint32_t>>;
  template <typename Fits>
  static std::uint32_t take_or_queue(List& there, List& own, const MatchKey& key, std::uint32_t value,
                                     Fits fits) {
    const auto found =
        std::find_if(there.begin(), there.end(), [&](const auto& entry) { return fits(entry.first); });
    if (found == there.end()) {
      own.emplace_back(key, value);
      return Matching::kNone;
    }
    const std::uint32_t result = found->second;
    there.erase(found);
    return result;
  }
  List posted_, unexpected_;
};

}  // namespace

TEST_CASE("matching takes what a search of plain lists takes") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, 1);
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(random.below(4));
    Matching matching(ranks);
    NaiveMatching naive;
    for (std::uint32_t step = 0; step < 600; ++step) {
      MatchKey key{static_cast<std::uint32_t>(random.below(ranks)),
                   static_cast<std::uint32_t>(random.below(3)), static_cast<std::uint32_t>(random.below(3)),
                   static_cast<std::uint32_t>(random.below(2)), 0};
      if (random.below(2) == 0) {
        if (random.below(4) == 0) key.source = kAny;
        if (random.below(4) == 0) key.tag = kAny;
        REQUIRE(matching.post(key, step) == naive.post(key, step));
      } else {
        if (seed % 2 == 0 && random.below(4) == 0) key.tag = kAny;
        REQUIRE(matching.arrive(key, step) == naive.arrive(key, step));
      }
    }
  }
}

TEST_CASE("a thousand distinct keys leave the table empty again") {
  Matching matching(1);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 1000; ++i)
      REQUIRE(matching.post({0, i, i * 7, 0, 0}, i) == Matching::kNone);
    for (std::uint32_t i = 1000; i-- > 0;) REQUIRE(matching.arrive({0, i, i * 7, 0, 0}, 5000 + i) == i);
    REQUIRE(matching.posted().size() == 0);
    REQUIRE(matching.unexpected().size() == 0);
  }
}
