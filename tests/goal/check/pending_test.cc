#include "goal/check/pending.h"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>

namespace weft::goal::checks {
namespace {

// One queue for each key and side.
struct Reference {
  std::map<std::pair<MessageKey, bool>, std::deque<Side>> waiting;

  std::optional<Side> meet(const MessageKey& key, bool is_send, const Side& side) {
    std::deque<Side>& others = waiting[{key, !is_send}];
    if (others.empty()) {
      waiting[{key, is_send}].push_back(side);
      return std::nullopt;
    }
    const Side other = others.front();
    others.pop_front();
    return other;
  }
};

}  // namespace

TEST_CASE("messages are paired in order, as by a queue for each key") {
  std::mt19937_64 random(1);
  std::uint64_t met = 0;
  for (int round = 0; round < 200; ++round) {
    PendingMessages pending;
    Reference reference;
    const std::uint64_t keys = 1 + random() % (round % 10 == 0 ? 5000 : 20), sizes = 1 + random() % 3;
    // Sends, then receives, come in waves, in loops with now and then a gap.
    OpIndex op = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t which = random() % keys;
      const MessageKey key{static_cast<Rank>(which % 7), static_cast<Rank>(which / 7), 0, 3};
      const bool is_send = random() % 10 < (i / 100 % 2 == 0 ? 8u : 2u);
      const Side side{op, 8 * (random() % sizes)};
      op += random() % 20 == 0 ? 5 : 2;
      const auto a = pending.meet(key, is_send, side), b = reference.meet(key, is_send, side);
      REQUIRE(a.has_value() == b.has_value());
      if (!a) continue;
      ++met;
      REQUIRE(a->op == b->op);
      REQUIRE(a->bytes == b->bytes);
    }
    const auto left = pending.left();
    std::size_t at = 0;
    for (const auto& [key, sides] : reference.waiting) {
      if (sides.empty()) continue;
      REQUIRE(at < left.size());
      CHECK(left[at].key == key.first);
      CHECK(left[at].is_send == key.second);
      CHECK(left[at].count == sides.size());
      CHECK(left[at].op == sides.front().op);
      ++at;
    }
    CHECK(at == left.size());
  }
  CHECK(met > 100'000);
}

}  // namespace weft::goal::checks
