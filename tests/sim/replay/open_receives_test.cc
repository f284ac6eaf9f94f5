// Against a multiset of what was added.
#include "sim/replay/open_receives.h"

#include <catch2/catch.hpp>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/random.h"

namespace weft::sim {
namespace {

using Key = std::pair<std::uint32_t, std::uint32_t>;

TEST_CASE("a tag's lane is known while it has one, and several are told from none") {
  OpenReceives receives;
  CHECK(receives.lane(0, 0) == OpenReceives::kNone);
  receives.add(3, 7, 11);
  receives.add(3, 7, 11);  // two steps of one lane
  CHECK(receives.lane(3, 7) == 11);
  CHECK(receives.lane(7, 3) == OpenReceives::kNone);
  receives.remove(3, 7);
  CHECK(receives.lane(3, 7) == 11);
  receives.add(3, 7, 12);
  CHECK(receives.lane(3, 7) == OpenReceives::kSeveral);
  receives.remove(3, 7);
  receives.remove(3, 7);
  CHECK(receives.lane(3, 7) == OpenReceives::kNone);
}

// Few keys, so that they meet often and chains of places are cut in all ways.
TEST_CASE("whatever was added and removed, each key has the lanes since it had none") {
  OpenReceives receives;
  std::map<Key, std::pair<std::uint32_t, std::uint32_t>> naive;  // steps, lane
  std::vector<Key> added;
  for (std::uint64_t round = 0; round < 20'000; ++round) {
    const std::uint64_t draw = mix64(round);
    const Key key(draw % 13, (draw >> 8) % 17);
    const auto lane = static_cast<std::uint32_t>((draw >> 16) % 3);
    if (added.size() < 40 || (draw >> 24) % 2 == 0) {
      receives.add(key.first, key.second, lane);
      auto& [steps, owner] = naive[key];
      owner = steps++ == 0 || owner == lane ? lane : OpenReceives::kSeveral;
      added.push_back(key);
    } else {
      std::swap(added[(draw >> 32) % added.size()], added.back());
      const Key gone = added.back();
      added.pop_back();
      receives.remove(gone.first, gone.second);
      if (--naive[gone].first == 0) naive.erase(gone);
    }
    const auto known = naive.find(key);
    REQUIRE(receives.lane(key.first, key.second) ==
            (known == naive.end() ? OpenReceives::kNone : known->second.second));
  }
}

}  // namespace
}  // namespace weft::sim
