#include "sim/replay/matching.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <list>
#include <ostream>
#include <vector>

using weft::goal::kAny;
using weft::sim::Matching;
using weft::sim::MatchKey;

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

// One call: a receive posted or a message that arrives. Few values, so that keys meet often.
struct Call {
  bool is_post = false;
  MatchKey key;
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << (call.is_post ? "post" : "arrive") << " rank " << call.key.rank << " source "
             << static_cast<int>(call.key.source) << " tag " << static_cast<int>(call.key.tag) << " context "
             << call.key.context << '\n';
}

// Receives may name any source and any tag, messages any tag.
rc::Gen<Call> any_call() {
  const auto below = [](std::uint32_t n) { return rc::gen::inRange<std::uint32_t>(0, n); };
  const auto or_any = [](rc::Gen<std::uint32_t> gen) {
    return rc::gen::weightedOneOf<std::uint32_t>({{3, std::move(gen)}, {1, rc::gen::just(kAny)}});
  };
  return rc::gen::mapcat(rc::gen::arbitrary<bool>(), [=](bool is_post) {
    const auto key = rc::gen::build<MatchKey>(
        rc::gen::set(&MatchKey::rank, below(3)),
        rc::gen::set(&MatchKey::source, is_post ? or_any(below(3)) : below(3)),
        rc::gen::set(&MatchKey::tag, or_any(below(3))), rc::gen::set(&MatchKey::context, below(2)));
    return rc::gen::map(key, [is_post](const MatchKey& k) { return Call{is_post, k}; });
  });
}

}  // namespace

TEST_CASE("matching takes what a search of plain lists takes") {
  // A failure is shrunk to the fewest calls; RC_PARAMS="seed=…" in the environment tries others.
  setenv("RC_PARAMS", "seed=1 max_success=300 max_size=400", 0);
  const bool holds = rc::check("same answers", [] {
    const auto calls = *rc::gen::container<std::vector<Call>>(any_call());
    Matching matching(3);
    NaiveMatching naive;
    std::uint32_t value = 0;
    for (const Call& call : calls) {
      RC_ASSERT((call.is_post ? matching.post(call.key, value) : matching.arrive(call.key, value)) ==
                (call.is_post ? naive.post(call.key, value) : naive.arrive(call.key, value)));
      ++value;
    }
  });
  CHECK(holds);
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
