#include "congestion/recoveries/rack.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/core/random.h"

namespace weft::congestion {
namespace {

constexpr Time kRtt = Time::us(10);
const RecoveryConfig kInOrder{
    .min_timeout = Time::us(100), .max_timeout = Time::us(1000), .reordering = false};

// This has one message, whose last packet has 500 of 1,000 bytes unless `last_bytes` says otherwise.
struct Started final : RingPool, Rack {
  explicit Started(std::uint32_t packets, const RecoveryConfig& config = kInOrder,
                   std::uint32_t last_bytes = 500, std::uint32_t random = 0)
      : Rack(RecoverySetup{
            .config = config, .mtu_bytes = 1000, .base_rtt = kRtt, .random = random, .rings = this}) {
    append((packets - 1) * std::uint64_t{1000} + last_bytes);
  }
  using Rack::on_ack;
  using Rack::on_nack;
  Outcome on_ack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent, bool duplicate,
                 std::uint64_t sack = 0) {
    return Rack::on_ack({now, number, cumulative, sent, duplicate, sack});
  }
  Outcome on_nack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent) {
    return Rack::on_nack({now, number, cumulative, sent});
  }
};

// Sends packets [next_new, until) one microsecond apart from `at` on.
void send(Rack& recovery, std::uint32_t until, Time at) {
  while (recovery.next_new() < until) {
    recovery.on_send(recovery.next_to_send(), at);
    at += Time::us(1);
  }
}

TEST_CASE("acknowledged one by one, nothing is lost and bytes add up") {
  Started recovery(3);
  send(recovery, 3, Time());
  REQUIRE(recovery.in_flight_bytes() == 2500);
  for (std::uint32_t n = 0; n < 3; ++n) {
    REQUIRE_FALSE(recovery.done());
    const auto outcome = recovery.on_ack(Time::us(n) + kRtt, n, n + 1, Time::us(n), false);
    REQUIRE(outcome.acked_bytes == (n == 2 ? 500 : 1000));
    REQUIRE(outcome.lost_packets == 0);
  }
  REQUIRE(recovery.done());
  REQUIRE(recovery.in_flight_bytes() == 0);
  REQUIRE(recovery.deadline() == Time::max());
  REQUIRE(recovery.smoothed_rtt() == kRtt);
}

TEST_CASE("before the first ACK a round trip is that of the longest path that may be used") {
  RingPool rings;
  Rack recovery({.config = {.min_timeout = Time::us(1), .max_timeout = Time::us(1000)},
                 .mtu_bytes = 1000,
                 .base_rtt = kRtt,
                 .longest_rtt = kRtt * 2,
                 .rings = &rings});
  recovery.append(1000);
  recovery.on_send(0, Time());
  REQUIRE(recovery.deadline() == kRtt * 2);
}

TEST_CASE("RFC 6298: smoothed round trip, variance, timeout and its back-off") {
  Started recovery(100, {.min_timeout = Time::us(1), .max_timeout = Time::us(1000)});
  send(recovery, 3, Time());
  recovery.on_ack(Time::us(40), 0, 1, Time(), false);  // R = 40: SRTT = 40, RTTVAR = 20
  REQUIRE(recovery.timeout() == Time::us(40 + 4 * 20));
  recovery.on_ack(Time::us(49), 1, 2, Time::us(1), false);  // R' = 48: RTTVAR = 3/4·20 + 1/4·8, SRTT = 41
  REQUIRE(recovery.smoothed_rtt() == Time::us(41));
  REQUIRE(recovery.timeout() == Time::us(41 + 4 * 17));
  // A first look finds nothing older than packet 2, sent after all that was acknowledged.
  REQUIRE(recovery.on_timer(Time::us(70)).lost_packets == 0);
  // Nothing new after 49 us: the timer is due 109 us later, and doubles from then on, up to the limit.
  REQUIRE(recovery.deadline() == Time::us(49 + 109));
  REQUIRE_FALSE(recovery.on_timer(Time::us(157)).timeout);
  Time now = Time::us(158);
  for (std::int64_t expected : {218, 436, 872, 1000, 1000}) {
    const auto outcome = recovery.on_timer(now);
    REQUIRE(outcome.timeout);
    REQUIRE(outcome.lost_packets == 1);
    REQUIRE(recovery.next_to_send() == 2);
    recovery.on_send(2, now);
    REQUIRE(recovery.timeout() == Time::us(expected));
    now = recovery.deadline();
  }
  // An ACK ends the back-off.
  recovery.on_ack(now, 2, 3, now - Time::us(41), false);
  REQUIRE(recovery.timeout() < Time::us(218));
}

TEST_CASE("a sender gives up after 16 timeouts in a row, until an ACK comes after all") {
  Started recovery(10);
  send(recovery, 1, Time());
  Time now;
  for (int i = 0; i < 16; ++i) {
    now = recovery.deadline();
    REQUIRE(recovery.on_timer(now).timeout);
    recovery.on_send(recovery.next_to_send(), now);
  }
  now = recovery.deadline();
  const auto last = recovery.on_timer(now);
  REQUIRE(last.gave_up);
  REQUIRE_FALSE(last.timeout);
  REQUIRE(last.lost_packets == 0);
  REQUIRE(recovery.deadline() == Time::max());
  REQUIRE_FALSE(recovery.on_timer(now + Time::us(5000)).gave_up);
  REQUIRE(recovery.in_flight_packets() == 1);
  now = now + Time::us(10'000);
  REQUIRE(recovery.on_ack(now, 0, 1, Time(), false).acked_packets == 1);
  recovery.on_send(recovery.next_to_send(), now);
  REQUIRE(recovery.deadline() < Time::max());
  REQUIRE(recovery.on_timer(recovery.deadline()).timeout);
}

TEST_CASE("RFC 8985: lost once a later packet is acknowledged and the reordering window has passed") {
  Started recovery(100);
  send(recovery, 6, Time());  // sent at 0 … 5 us; packet 1 is lost on the way
  recovery.on_ack(Time::us(10), 0, 1, Time(), false);
  // Packet 2 was sent 1 us after packet 1: 1 < RTT/4 = 2.5, so packet 1 may only be late.
  REQUIRE(recovery.on_ack(Time::us(12), 2, 1, Time::us(2), false).lost_packets == 0);
  REQUIRE(recovery.on_ack(Time::us(13), 3, 1, Time::us(3), false).lost_packets == 0);
  // Due at sent + round trip + window = 1 + 10 + 2.5 us, by timer if no ACK comes …
  REQUIRE(recovery.deadline() == Time::ps(13'500'000));
  SECTION("by a later ACK") {
    const auto outcome = recovery.on_ack(Time::us(14), 4, 1, Time::us(4), false);
    REQUIRE(outcome.lost_packets == 1);
    REQUIRE(outcome.lost_bytes == 1000);
  }
  SECTION("by the timer") {
    REQUIRE(recovery.on_timer(Time::ps(13'499'999)).lost_packets == 0);
    const auto outcome = recovery.on_timer(Time::ps(13'500'000));
    REQUIRE(outcome.lost_packets == 1);
    REQUIRE_FALSE(outcome.timeout);
  }
  REQUIRE(recovery.lost() == 1);
  REQUIRE(recovery.next_to_send() == 1);
  recovery.on_send(1, Time::us(15));
  REQUIRE(recovery.lost() == 0);
  REQUIRE(recovery.next_to_send() == 6);
}

TEST_CASE("where packets take several paths, patience is a whole round trip") {
  RecoveryConfig config = kInOrder;
  config.reordering = true;
  Started recovery(100, config);
  send(recovery, 30, Time());
  recovery.on_ack(Time::us(10), 0, 1, Time(), false);
  for (std::uint32_t n = 2; n < 11; ++n) {
    REQUIRE(recovery.on_ack(Time::us(n) + kRtt, n, 1, Time::us(n), false).lost_packets == 0);
  }
  // Packet 1: 1 + 10 + 10 us.
  REQUIRE(recovery.deadline() == Time::us(21));
  REQUIRE(recovery.on_ack(Time::us(21), 11, 1, Time::us(11), false).lost_packets == 1);
}

TEST_CASE("a packet given up too early widens the window") {
  Started recovery(100);
  send(recovery, 20, Time());
  recovery.on_ack(Time::us(10), 0, 1, Time(), false);
  REQUIRE(recovery.reordering_window() == Time::ps(2'500'000));
  REQUIRE(recovery.on_ack(Time::us(15), 5, 1, Time::us(5), false).lost_packets > 0);
  // Packet 1's first copy was late only: its ACK comes, then that of the second copy, a duplicate.
  recovery.on_send(1, Time::us(15));
  REQUIRE(recovery.on_ack(Time::us(16), 1, 2, Time::us(1), false).acked_packets == 1);
  REQUIRE(recovery.on_ack(Time::us(26), 1, 2, Time::us(15), true).acked_packets == 0);
  REQUIRE(recovery.reordering_window() == Time::us(5));
}

TEST_CASE("a cumulative ACK makes up for lost ACKs") {
  Started recovery(10);
  send(recovery, 5, Time());
  const auto outcome = recovery.on_ack(Time::us(13), 3, 4, Time::us(3), false);
  REQUIRE(outcome.acked_packets == 4);
  REQUIRE(outcome.acked_bytes == 4000);
  REQUIRE(recovery.first_unacked() == 4);
  REQUIRE(recovery.in_flight_packets() == 1);
}

TEST_CASE("a NACK: lost at once, but only the transmission it is about") {
  Started recovery(10);
  send(recovery, 6, Time());  // sent at 0 … 5 us
  auto outcome = recovery.on_nack(Time::us(8), 3, 1, Time::us(3));
  REQUIRE(outcome.acked_packets == 1);  // what it says of those before
  REQUIRE(outcome.lost_packets == 1);
  REQUIRE(outcome.lost_bytes == 1000);
  REQUIRE(recovery.first_unacked() == 1);
  REQUIRE(recovery.in_flight_packets() == 4);
  REQUIRE(recovery.next_to_send() == 3);
  REQUIRE(recovery.on_nack(Time::us(8), 3, 1, Time::us(3)).lost_packets == 0);  // known already
  recovery.on_send(3, Time::us(9));
  REQUIRE(recovery.on_nack(Time::us(10), 3, 1, Time::us(3)).lost_packets == 0);  // of the first one
  REQUIRE(recovery.in_flight_packets() == 5);
  REQUIRE(recovery.on_nack(Time::us(18), 3, 1, Time::us(9)).lost_packets == 1);
  recovery.on_send(3, Time::us(18));
  recovery.on_ack(Time::us(28), 3, 1, Time::us(18), false);
  REQUIRE(recovery.on_nack(Time::us(29), 3, 1, Time::us(18)).lost_packets == 0);
  REQUIRE(recovery.on_nack(Time::us(29), 0, 1, Time()).lost_packets == 0);
}

TEST_CASE("a NACK puts the timeout off and ends its back-off") {
  Started recovery(2);
  send(recovery, 2, Time());
  REQUIRE(recovery.deadline() == Time::us(100));
  REQUIRE(recovery.on_timer(Time::us(100)).timeout);
  recovery.on_send(recovery.next_to_send(), Time::us(100));
  recovery.on_send(recovery.next_to_send(), Time::us(100));
  REQUIRE(recovery.deadline() == Time::us(100 + 200));
  recovery.on_nack(Time::us(110), 0, 0, Time::us(100));
  REQUIRE(recovery.deadline() == Time::us(110 + 100));
}

TEST_CASE("the bitmap of an ACK settles what it names, and nothing else") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 20)));
  sim::RandomStream random(seed, 1);
  const auto packets = static_cast<std::uint32_t>(1 + random.below(300));
  RecoveryConfig config = kInOrder;
  config.reordering = true;
  Started recovery(packets, config);
  for (std::uint32_t n = 0; n < packets; ++n) recovery.on_send(n, Time());
  Arrivals arrivals;
  std::set<std::uint32_t> arrived, told;
  for (int step = 0; step < 500; ++step) {
    const auto number = static_cast<std::uint32_t>(random.below(packets));
    arrivals.add(number);
    arrived.insert(number);
    if (random.below(4) != 0) continue;
    const std::uint32_t missing = arrivals.first_missing();
    const auto outcome = recovery.on_ack(Time::us(10), number, missing, Time(), false, arrivals.sack(number));
    // The sender knows: all below `missing`, and of the 64 up to `number` those that have arrived.
    const std::size_t before = told.size();
    for (const std::uint32_t n : arrived) {
      if (n < missing || (n <= number && n + 64 > number)) told.insert(n);
      // Where fewer than 64 lie between, the bitmap reaches beyond.
      if (n > number && n < std::max(missing, number >= 63 ? number - 63 : 0) + 64) told.insert(n);
    }
    REQUIRE(outcome.acked_packets == told.size() - before);
    for (std::uint32_t n = 0; n < packets; ++n) REQUIRE(arrivals.has(n) == (arrived.count(n) == 1));
  }
  REQUIRE(recovery.in_flight_packets() == packets - told.size());
}

TEST_CASE("the limit of timeouts is one of back-offs: round trips and the least timeout may be longer") {
  Started slow(100, {.min_timeout = Time::us(1), .max_timeout = Time::us(1000)});
  send(slow, 3, Time());
  slow.on_ack(Time::us(2000), 0, 1, Time(), false);  // SRTT = 2000, RTTVAR = 1000
  REQUIRE(slow.timeout() == Time::us(6000));
  REQUIRE(slow.on_timer(slow.deadline()).timeout);
  REQUIRE(slow.timeout() == Time::us(6000));
  Started patient(3, {.min_timeout = Time::us(5000), .max_timeout = Time::us(1000)});
  REQUIRE(patient.timeout() == Time::us(5000));
  Started usual(3, {});
  for (int i = 0; i < 10; ++i) {
    usual.on_send(0, Time());
    REQUIRE(usual.on_timer(usual.deadline()).timeout);
  }
  REQUIRE(usual.timeout() == Time::us(100 << 10));  // not yet a minute
  // As long as time itself: later than any moment, and still one.
  Started endless(3, {.min_timeout = Time::max(), .jitter = 1});
  endless.on_send(0, kEndOfTime);
  REQUIRE(endless.deadline() > kEndOfTime);
}

TEST_CASE("timeouts differ between flows by up to the jitter, and from one to the next") {
  RecoveryConfig config = kInOrder;
  config.max_timeout = Time::us(1'000'000);
  config.jitter = 0.25;
  double sum = 0;
  std::set<std::int64_t> seen;
  constexpr int kFlows = 1000;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
    Started recovery(3, config, 1000, flow), again(3, config, 1000, flow);
    REQUIRE(recovery.timeout() >= Time::us(100));
    REQUIRE(recovery.timeout() <= Time::us(125));
    REQUIRE(recovery.timeout() == again.timeout());
    sum += recovery.timeout().seconds() * 1e6 - 100;
    seen.insert(recovery.timeout().ps());
    // The next one is twice as long, but for a new draw.
    recovery.on_send(0, Time());
    const Time first = recovery.timeout();
    REQUIRE(recovery.on_timer(recovery.deadline()).timeout);
    REQUIRE(recovery.timeout() >= Time::us(200));
    REQUIRE(recovery.timeout() <= Time::us(250));
    seen.insert(recovery.timeout().ps() / 2);
    REQUIRE(recovery.timeout() != first * 2);
  }
  REQUIRE(sum / kFlows == Approx(12.5).margin(1.2));  // uniform: five standard deviations
  REQUIRE(seen.size() > kFlows);
}

// A channel that delays, drops and duplicates nothing by itself, against plain bookkeeping in sets.
TEST_CASE("random losses and reordering: all arrives, in-flight counts agree with a naive model") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 20)));
  sim::RandomStream random(seed, 0);
  RecoveryConfig config = kInOrder;
  config.reordering = random.below(2) == 0;
  const auto packets = static_cast<std::uint32_t>(1 + random.below(400));
  const std::uint64_t loss_percent = random.below(40);
  Started recovery(packets, config);

  struct Answer {
    std::uint32_t number, cumulative;
    Time sent;
    bool duplicate;
  };
  std::multimap<std::int64_t, Answer> answers;  // by time
  std::set<std::uint32_t> received, settled;    // at the receiver; known to the sender
  std::uint64_t sent_count = 0, lost_count = 0;
  Time now;
  int steps = 0;
  while (!recovery.done()) {
    REQUIRE(++steps < 200'000);
    // A window of 32 packets.
    while (recovery.in_flight_packets() < 32 && (recovery.lost() > 0 || recovery.next_new() < packets)) {
      const std::uint32_t number = recovery.next_to_send();
      REQUIRE(settled.count(number) == 0);
      recovery.on_send(number, now);
      ++sent_count;
      if (random.below(100) >= loss_percent) {
        const bool duplicate = !received.insert(number).second;
        std::uint32_t cumulative = 0;
        while (received.count(cumulative) != 0) ++cumulative;
        const Time delay = kRtt + Time::ps(static_cast<std::int64_t>(random.below(3'000'000)));
        if (random.below(100) >= loss_percent) {
          answers.emplace((now + delay).ps(), Answer{number, cumulative, now, duplicate});
        }
      }
      now += Time::ps(100'000);
    }
    const Time deadline = recovery.deadline();
    Recovery::Outcome outcome;
    if (!answers.empty() && answers.begin()->first <= deadline.ps()) {
      now = std::max(now, Time::ps(answers.begin()->first));
      const Answer answer = answers.begin()->second;
      answers.erase(answers.begin());
      outcome = recovery.on_ack(now, answer.number, answer.cumulative, answer.sent, answer.duplicate);
      const std::size_t before = settled.size();
      settled.insert(answer.number);
      for (std::uint32_t n = 0; n < answer.cumulative; ++n) settled.insert(n);
      REQUIRE(outcome.acked_packets == settled.size() - before);
    } else {
      REQUIRE(deadline != Time::max());
      now = std::max(now, deadline);
      outcome = recovery.on_timer(now);
    }
    lost_count += outcome.lost_packets;
    REQUIRE(recovery.in_flight_packets() + recovery.lost() + settled.size() == recovery.next_new());
    while (settled.count(recovery.first_unacked()) != 0) FAIL("the first unacknowledged packet is settled");
  }
  REQUIRE(settled.size() == packets);
  // Whatever was sent again had been declared lost; some of those were settled before it came to that.
  REQUIRE(sent_count - packets <= lost_count);
  if (loss_percent == 0 && config.reordering) REQUIRE(lost_count == 0);
}

}  // namespace
}  // namespace weft::congestion
