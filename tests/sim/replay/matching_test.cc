#include "sim/replay/matching.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <list>
#include <optional>
#include <ostream>
#include <vector>

#include "sim/core/random.h"
#include "sim/replay/match_table.h"

using weft::goal::kAny;
using weft::sim::ArrivedMessage;
using weft::sim::KeyedQueues;
using weft::sim::Matching;
using weft::sim::MatchKey;
using weft::sim::MatchTable;
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

// Posts a receive, or lets a message arrive: what it was matched with, or kNone.
std::uint32_t meet(Matching& matching, const MatchKey& key, bool is_message, std::uint32_t handle) {
  if (is_message) return matching.arrive(key, {.bytes = 8, .source = key.source, .sender = handle});
  const std::optional<ArrivedMessage> message = matching.post(key, handle);
  return message ? message->sender : Matching::kNone;
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
      RC_ASSERT(meet(matching, call.key, !call.is_post, value) ==
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
      REQUIRE(meet(matching, {0, i, i * 7, 0}, false, i) == Matching::kNone);
    for (std::uint32_t i = 1000; i-- > 0;) REQUIRE(meet(matching, {0, i, i * 7, 0}, true, 5000 + i) == i);
    REQUIRE(matching.receives().size() == 0);
    REQUIRE(matching.messages().size() == 0);
  }
}

namespace {

// Receives and messages of one rank in a MatchTable; links in a vector, as all handles are different.
class TableMatching {
 public:
  std::uint32_t meet(const MatchKey& wanted, bool is_message, std::uint32_t handle) {
    links_.resize(handle + 1);
    const auto link = [this](std::uint32_t i) -> std::uint32_t& { return links_[i]; };
    const MatchTable::Key key{wanted.source, wanted.tag, wanted.context};
    MatchTable::Entry* entry = table_.find(key);
    if (entry != nullptr && entry->of_messages != is_message) return table_.take(*entry, link);
    if (entry == nullptr) {
      table_.insert(key, is_message, handle, memory_, link);
    } else {
      MatchTable::append(*entry, handle, link);
    }
    return Matching::kNone;
  }
  std::size_t keys() const {
    std::size_t count = 0;
    table_.for_each([&](const MatchTable::Entry&) { ++count; });
    return count;
  }

 private:
  MatchTable table_;
  weft::sim::MatchTableMemory memory_;
  std::vector<std::uint32_t> links_;
};

}  // namespace

TEST_CASE("without wildcards a table takes what a search of plain lists takes") {
  // From few keys, which all fit the table's cache line, to many; receives and messages in changing shares,
  // so that the table grows and shrinks.
  for (const std::uint64_t keys : {1u, 3u, 4u, 12u, 100u, 3000u}) {
    RandomStream random(7, keys);
    TableMatching table;
    NaiveMatching naive;
    for (std::uint32_t i = 0; i < 6000; ++i) {
      const auto source = static_cast<std::uint32_t>(random.below(keys));
      const MatchKey key{0, source / 2, source % 2 * 5, static_cast<std::uint32_t>(random.below(4)) / 3};
      const bool is_message = random.below(10) < (i / 1000 % 2 == 0 ? 8u : 2u);
      REQUIRE(table.meet(key, is_message, i) == (is_message ? naive.arrive(key, i) : naive.post(key, i)));
    }
    for (std::uint32_t i = 6000; i < 7000 && keys == 3000; ++i) {
      REQUIRE(table.meet({0, i, 0, 0}, false, i) == Matching::kNone);
    }
    REQUIRE(table.keys() >= (keys == 3000 ? 1000u : 1u));
  }
}

TEST_CASE("queues keep the order of a rank when their numbers run out") {
  // Stamps of 8 bits: numbers begin anew every 256 entries that a rank has without a pause.
  KeyedQueues<MatchKey, std::uint32_t, std::uint8_t> queues(2);
  std::vector<std::pair<MatchKey, std::uint32_t>> naive;
  RandomStream random(11, 0);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const MatchKey key{0, static_cast<std::uint32_t>(random.below(5)), 0, 0};
    const bool push = naive.size() < 50 || (naive.size() < 200 && random.below(2) == 0);
    if (push) {
      queues.push(key, i);
      queues.push({1, key.source, 0, 0}, i);  // the other rank's, in between
      naive.emplace_back(key, i);
    } else {
      const auto oldest =
          std::find_if(naive.begin(), naive.end(), [&](const auto& entry) { return entry.first == key; });
      const std::uint32_t front = queues.front(key);
      REQUIRE((front == Matching::kNone) == (oldest == naive.end()));
      if (oldest != naive.end()) {
        REQUIRE(queues.take(front) == oldest->second);
        naive.erase(oldest);
      }
      const std::uint32_t other = queues.first_of_rank(1);
      if (other != Matching::kNone) queues.take(other);
    }
    std::size_t at = 0;
    int last = -1;
    for (std::uint32_t e = queues.first_of_rank(0); e != Matching::kNone; e = queues.entry(e).rank_next) {
      REQUIRE(queues.entry(e).value == naive.at(at++).second);
      REQUIRE(queues.entry(e).stamp > last);
      last = queues.entry(e).stamp;
    }
    REQUIRE(at == naive.size());
  }
}

TEST_CASE("messages of 100,000 senders do not meet as many receives with wildcards one by one") {
  // Work that grew with the square of the ranks would run into the limit of the test.
  Matching matching(1);
  constexpr std::uint32_t kRanks = 100'000;
  for (std::uint32_t i = 0; i < kRanks; ++i) {
    REQUIRE(meet(matching, {0, kAny, 2, 0}, false, i) == Matching::kNone);
    REQUIRE(meet(matching, {0, i + kRanks, kAny, 0}, false, i) == Matching::kNone);
  }
  for (std::uint32_t i = 0; i < kRanks; ++i)
    REQUIRE(meet(matching, {0, i, 1, 0}, true, i) == Matching::kNone);
  for (std::uint32_t i = 0; i < kRanks; ++i)
    REQUIRE(meet(matching, {0, kAny, 3, 0}, false, i) == Matching::kNone);
  for (std::uint32_t i = 0; i < kRanks; ++i) REQUIRE(meet(matching, {0, kAny, 1, 0}, false, i) == i);
  for (std::uint32_t i = 0; i < kRanks; ++i) {
    REQUIRE(meet(matching, {0, i + kRanks, 2, 0}, true, i) == i);  // of those that fit, the older one
    REQUIRE(meet(matching, {0, i, 2, 0}, true, i) == (i + 1 < kRanks ? i + 1 : Matching::kNone));
  }
}

TEST_CASE("what waits where there are wildcards takes at most 64 bytes") {
  // Just after the table has grown it is emptiest; before, fullest. A receive has 4 more in its operation.
  for (const std::uint32_t count : {49'152u, 49'153u, 98'304u, 98'305u, 150'000u}) {
    Matching receives(1), messages(1), wildcards(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      meet(receives, {0, i, i % 7, 0}, false, i);
      meet(messages, {0, i, i % 7, 0}, true, i);
      meet(wildcards, {0, i % 2 == 0 ? kAny : i, i % 2 == 0 ? i : kAny, 0}, false, i);
    }
    CHECK(receives.memory_bytes() + 4 * count <= 64.0 * count);
    CHECK(wildcards.memory_bytes() + 4 * count <= 64.0 * count);
    CHECK(messages.memory_bytes() <= 64.0 * count);
    CHECK(messages.memory_bytes() >= 48.0 * count);  // it does count what it holds
  }
}
