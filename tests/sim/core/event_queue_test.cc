// The calendar against std::multimap-like order: a sorted set of (time, source, sequence).
#include "sim/core/event_queue.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/core/random.h"

namespace weft::sim {
namespace {

using Key = std::tuple<std::int64_t, EntityId, std::uint32_t>;

Key key_of(const Event& event) { return {event.time_ps, event.source, event.sequence}; }

// Pops as many as the reference has, in its order and with the payload that belongs to each. Returns the time
// of the last.
std::int64_t pop_all(EventQueue& queue, const std::set<Key>& reference) {
  Event event;
  for (const Key& key : reference) {
    REQUIRE(queue.pop(event));
    REQUIRE(key_of(event) == key);
    REQUIRE(event.payload == ~event.sequence);
  }
  return event.time_ps;
}

// Pushes and pops at random, with delays from `delay`, and compares every pop with the reference.
template <typename Delay>
void compare(int bucket_shift, std::uint64_t seed, int steps, Delay delay) {
  EventQueue queue(bucket_shift);
  std::set<Key> reference;
  RandomStream random(seed, 0);
  std::int64_t now = 0;
  std::uint32_t sequence = 0;
  for (int step = 0; step < steps || !reference.empty(); ++step) {
    if (step < steps && random.below(100) < 52) {
      const Event event{.time_ps = now + delay(random),
                        .sequence = sequence++,
                        .source = static_cast<EntityId>(random.below(5)),
                        .payload = sequence};
      queue.push(event);
      reference.insert(key_of(event));
    } else if (!reference.empty()) {
      Event event;
      REQUIRE(queue.pop(event));
      REQUIRE(key_of(event) == *reference.begin());
      REQUIRE(event.payload == event.sequence + 1);
      now = event.time_ps;
      reference.erase(reference.begin());
    }
    REQUIRE(queue.size() == reference.size());
  }
  Event event;
  REQUIRE_FALSE(queue.pop(event));
  REQUIRE(queue.empty());
}

TEST_CASE("pops come in the order of (time, source, sequence)") {
  const int shift = GENERATE(0, 6, 10, 15, 20);
  DYNAMIC_SECTION("bucket shift " << shift) {
    SECTION("a few buckets ahead") {
      compare(shift, 1, 20'000, [](RandomStream& r) { return static_cast<std::int64_t>(r.below(600'000)); });
    }
    SECTION("ties: few distinct times, now among them") {
      compare(shift, 2, 20'000, [](RandomStream& r) { return static_cast<std::int64_t>(r.below(3)) * 1000; });
    }
    SECTION("from the current bucket to far beyond the calendar") {
      compare(shift, 3, 20'000, [](RandomStream& r) {
        return static_cast<std::int64_t>(r.below(std::uint64_t{1} << r.below(45)));
      });
    }
    SECTION("all beyond the calendar") {
      compare(shift, 4, 2'000,
              [](RandomStream& r) { return static_cast<std::int64_t>((1ULL << 40) + r.below(1ULL << 40)); });
    }
  }
}

TEST_CASE("many events of one moment, pushed in runs of ascending sources") {
  for (const std::uint32_t runs : {1u, 2u, 3u, 7u, 15u, 16u, 17u, 40u}) {
    EventQueue queue;
    for (std::uint32_t run = 0; run < runs; ++run) {
      for (std::uint32_t i = 0; i < 50; ++i)
        queue.push({.time_ps = 1'000'000, .source = i * runs + (runs - 1 - run)});
    }
    Event event;
    for (std::uint32_t i = 0; i < 50 * runs; ++i) {
      REQUIRE(queue.pop(event));
      REQUIRE(event.source == i);
    }
    REQUIRE_FALSE(queue.pop(event));
  }
}

TEST_CASE("a bucket of very many events, of sources that count from zero and from the middle") {
  const std::uint32_t size = GENERATE(255u, 256u, 2047u, 2048u, 5000u);
  const std::uint64_t sources = GENERATE(1u, 7u, 5000u, 0x7fffffffu);
  const std::uint64_t moments = GENERATE(1u, 200u, 32'768u);
  const auto step = GENERATE(1, 160);                // times are multiples of it, within a bucket
  const std::uint64_t upper = GENERATE(0u, 1u, 2u);  // which sources count from the middle: none, all, some
  EventQueue queue;
  RandomStream random(size, sources);
  std::set<Key> reference;
  constexpr std::int64_t kStart = std::int64_t{5} << 15;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint64_t from_middle = upper < 2 ? upper : random.below(2);
    const Event event{.time_ps = kStart + static_cast<std::int64_t>(random.below(moments)) / step * step,
                      .sequence = size - i,
                      .source = static_cast<EntityId>(from_middle << 31 | random.below(sources)),
                      .payload = ~(size - i)};
    queue.push(event);
    reference.insert(key_of(event));
  }
  pop_all(queue, reference);
  Event event;
  REQUIRE_FALSE(queue.pop(event));
}

// Sizes just below, at and above what a piece of memory holds, one, two and six of them; each round reuses
// what the one before gave back, in another order.
TEST_CASE("buckets that fill side by side, again and again") {
  EventQueue queue;
  RandomStream random(3, 1);
  std::int64_t now = 0;
  std::uint32_t sequence = 0;
  for (int round = 0; round < 20; ++round) {
    std::set<Key> reference;
    std::vector<std::uint32_t> left{1, 31, 32, 44, 45, 46, 90, 91, 255, 256, 269, 270, 271, 1000};
    const std::uint32_t last = left.size() - 1;
    for (std::uint64_t buckets = left.size(); buckets > 0;) {
      const auto bucket = static_cast<std::uint32_t>(random.below(left.size()));
      if (left[bucket] == 0) continue;
      if (--left[bucket] == 0) --buckets;
      const std::int64_t start = ((now >> 15) + 1 + (round % 2 == 0 ? bucket : last - bucket)) << 15;
      const Event event{.time_ps = start + static_cast<std::int64_t>(random.below(1 << 15)),
                        .sequence = sequence,
                        .source = static_cast<EntityId>(random.below(4)),
                        .payload = ~sequence};
      ++sequence;
      queue.push(event);
      reference.insert(key_of(event));
    }
    now = pop_all(queue, reference);
    REQUIRE(queue.empty());
  }
}

TEST_CASE("pop_before leaves events at and after its limit, and takes pushes meanwhile") {
  EventQueue queue(4);
  queue.push({.time_ps = 100, .source = 1});
  queue.push({.time_ps = 1'000'000, .source = 1, .payload = 7});
  const auto time_of = [](const Event* event) { return event == nullptr ? -1 : event->time_ps; };
  REQUIRE(queue.pop_before(100) == nullptr);
  REQUIRE(time_of(queue.pop_before(101)) == 100);
  REQUIRE(queue.pop_before(1'000'000) == nullptr);
  // Earlier than what is left, later than what was popped.
  queue.push({.time_ps = 500, .source = 2});
  queue.push({.time_ps = 999'999, .source = 0});
  REQUIRE(time_of(queue.pop_before(1'000'000)) == 500);
  REQUIRE(time_of(queue.pop_before(1'000'000)) == 999'999);
  REQUIRE(queue.pop_before(1'000'000) == nullptr);
  Event event;
  REQUIRE(queue.pop(event));
  REQUIRE(event.payload == 7);
}

}  // namespace
}  // namespace weft::sim
