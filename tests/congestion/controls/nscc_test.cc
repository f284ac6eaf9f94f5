// Ultra Ethernet's sender-based control against its equations, worked step by step here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "congestion/controls/controls.h"
#include "sim/units/random.h"

namespace weft::congestion {
namespace {

// The reference network itself: 100 Gb/s · 12 us, so that a = 1; packets of 1000 B.
constexpr FlowInfo kFlow{.mtu_bytes = 1000,
                         .line_rate = Bandwidth::gbps(100),
                         .base_rtt = Time::us(12),
                         .longest_rtt = Time::us(12),
                         .network_rtt = Time::us(12),
                         .bdp_bytes = 150'000,
                         .hops = 6};
constexpr double kTarget = 9;  // us: 3/4 of 12 us

struct Flow {
  Flow(const FlowInfo& info, const std::map<std::string, std::string>& given) {
    const Control& control =
        find_module(controls(), {.name = "nscc", .given = {}, .location = {}}, "control");
    factory = control.make_factory(Parameters(control.info, given));
    storage.resize(factory->sender_bytes() / sizeof(double) + 2);
    sender = factory->construct(storage.data(), info);
    sender->start(Time());
  }
  ~Flow() { sender->~Sender(); }
  // An ACK at a moment, with a queueing delay, both in us.
  double ack(double now, double delay, bool marked, double bytes = 1000, double in_flight = 50'000) {
    sender->on_ack({.now = us(now),
                    .rtt = us(12 + delay),
                    .bytes = static_cast<std::uint64_t>(bytes),
                    .in_flight = static_cast<std::uint64_t>(in_flight),
                    .ecn_marked = marked});
    return window();
  }
  double trim(double now, double bytes = 1000, double in_flight = 50'000) {
    sender->on_trim({.now = us(now),
                     .bytes = static_cast<std::uint64_t>(bytes),
                     .in_flight = static_cast<std::uint64_t>(in_flight)});
    return window();
  }
  double window() const { return static_cast<double>(sender->allowed().window_bytes); }
  static Time us(double count) { return Time::ps(static_cast<std::int64_t>(count * 1e6)); }
  std::unique_ptr<SenderFactory> factory;
  std::vector<double> storage;
  Sender* sender = nullptr;
};

TEST_CASE("NSCC's first and largest window is 1.5 bandwidth-delay products, its least a packet") {
  REQUIRE(Flow(kFlow, {}).window() == 225'000);
  REQUIRE(Flow(kFlow, {{"initial_window", "50"}}).window() == 50'000);
  REQUIRE(Flow(kFlow, {{"initial_window", "1000"}}).window() == 225'000);
  FlowInfo near = kFlow;
  near.bdp_bytes = 10;
  REQUIRE(Flow(near, {}).window() == 1000);
}

TEST_CASE("NSCC: a long queue without marks grows the window by five packets in a round trip") {
  Flow flow(kFlow, {{"initial_window", "100"}});
  // I = 5 mtu · bytes for each; added as I / W behind more than eight packets. The first ACK comes when the
  // last step is not yet due.
  for (int i = 0; i < 8; ++i) REQUIRE(flow.ack(1, kTarget + 1, false) == 100'000);
  const double grown = 100'000 + 9 * 5 * 1000.0 * 1000 / 100'000;
  REQUIRE(flow.ack(1, kTarget + 1, false) == Approx(grown).margin(1));
  // A network RTT after the last step, the step is due: 0.15 packets, with what has come.
  REQUIRE(flow.ack(12, kTarget + 1, false) == Approx(grown + 5e6 / grown + 150).margin(1));
}

TEST_CASE("NSCC: below the target it grows in proportion to what is missing") {
  Flow flow(kFlow, {{"initial_window", "100"}});
  // alpha = 4 mtu · a · b / target, b = target / 12 us: 4 · 1000 · (9 − 3) / 12 = 2000 for each byte.
  for (int i = 0; i < 8; ++i) flow.ack(1, 3, false);
  REQUIRE(flow.ack(1, 3, false) == Approx(100'000 + 9 * 2000.0 * 1000 / 100'000).margin(1));
  // With the drafts' rule, 5000 more.
  Flow draft(kFlow, {{"initial_window", "100"}, {"fair_below_target", "true"}});
  for (int i = 0; i < 8; ++i) draft.ack(1, 3, false);
  REQUIRE(draft.ack(1, 3, false) == Approx(100'000 + 9 * 7000.0 * 1000 / 100'000).margin(1));
}

TEST_CASE("NSCC: a window without queueing begins the fast increase, a quarter of what is acknowledged") {
  Flow flow(kFlow, {{"initial_window", "10"}});
  // Ten packets, no more than the window: proportional, 4 · 1000 · (9 − 0.5) / 12 for each byte.
  for (int i = 0; i < 8; ++i) REQUIRE(flow.ack(1, 0.5, false) == 10'000);
  double window = 10'000 + 9 * 1000 * (4000 * 8.5 / 12) / 10'000;
  REQUIRE(flow.ack(1, 0.5, false) == Approx(window).margin(1));
  double calm = 9000;
  while (calm <= window) {
    flow.ack(1, 0.5, false);
    calm += 1000;
  }
  // The ACK that passed the window was the first fast one; what was gathered before waits.
  const double before = flow.window();
  REQUIRE(flow.ack(1, 0.5, false) == Approx(before + 250).margin(1));
  // A microsecond of queueing ends it.
  const double fast = flow.window();
  REQUIRE(flow.ack(1, 1, false) < fast + 250);
}

TEST_CASE("NSCC: marks shrink it with the mean delay only, and once in a base RTT") {
  Flow flow(kFlow, {{"initial_window", "100"}, {"delay_weight", "0.5"}, {"quick_adapt", "false"}});
  // The mean of 18, 18 … from 0 with weight 1/2: 9 is not above the target, 13.5 is.
  REQUIRE(flow.ack(1, 18, true) == 100'000);
  const double share = 1 - 0.8 * (13.5 - 9) / 13.5;
  double window = 100'000 * share;
  REQUIRE(flow.ack(2, 18, true) == Approx(window).margin(1));
  REQUIRE(flow.ack(3, 18, true) == Approx(window).margin(1));
  // Not before 12 us later, while steps may be added; then by half the mean's share: it is near 18 now.
  for (int i = 0; i < 20; ++i) REQUIRE(flow.ack(13, 18, true) >= window - 1);
  window = flow.window();
  REQUIRE(flow.ack(14.5, 18, true) == Approx(window * (1 - 0.8 * 9 / 18)).epsilon(0.001));
  // A mark without delay does nothing.
  const double now = flow.window();
  REQUIRE(flow.ack(15, 1, true) == now);
}

TEST_CASE("NSCC: what was trimmed leaves the window, and quick adapt sets it to what arrives") {
  Flow flow(kFlow, {{"initial_window", "200"}});
  REQUIRE(flow.trim(1) == 199'000);  // the first look only begins the time of the next
  REQUIRE(flow.trim(2) == 198'000);
  // Base RTT + target = 21 us later: five packets arrived, less than 225,000 / 8.
  for (int i = 0; i < 5; ++i) flow.ack(3, 0.5, true);
  REQUIRE(flow.trim(23, 1000, 30'000) == 5000);
  // 30,000 B in flight are not reacted to again.
  for (int i = 0; i < 29; ++i) REQUIRE(flow.trim(24) == 5000);
  REQUIRE(flow.trim(24) < 5000);
  REQUIRE(flow.trim(24) >= 1000);

  // Where more arrives, it stays with what trims take.
  Flow busy(kFlow, {{"initial_window", "200"}});
  busy.trim(1);
  for (int i = 0; i < 29; ++i) busy.ack(3, 0.5, true);
  REQUIRE(busy.trim(23) == 198'000);
}

// The whole law once more, in the plainest form, over random ACKs and trims.
struct Oracle {
  double window = 225'000, inc = 0, mean = 0, since = 0, achieved = 0, ignored = 0, ignore = 0, calm = 0;
  double adjusted = 0, cut = -1e9, look = 0;
  bool fast = false, adapt = false;

  void bound() { window = std::min(std::max(window, 1000.0), 225'000.0); }
  bool quick(double now, bool lost, bool mark, double delay, double in_flight) {
    bool done = false;
    if (ignored < ignore && mark) {
      done = true;
    } else if (now > look) {
      if (look != 0 && (adapt || lost || delay > 4 * kTarget) && achieved < 225'000.0 / 8) {
        window = std::max(achieved, 1000.0);
        ignore = in_flight;
        ignored = 0;
        adapt = false;
        done = true;
      }
      achieved = 0;
      look = now + 12 + kTarget;
    }
    if (done) inc = since = 0;
    return done;
  }
  void ack(double now, double delay, bool mark, double bytes, double in_flight) {
    achieved += bytes;
    since += bytes;
    ignored += bytes;
    mean = (1 - 0.0125) * mean + 0.0125 * (!mark && delay > kTarget ? 3 : delay);
    if (quick(now, false, mark, delay, in_flight)) return;
    if (!mark && delay >= kTarget) {
      inc += 5000 * bytes;
    } else if (!mark) {
      if (delay < 1) {
        calm += bytes;
        if (calm > window) fast = true;
      } else {
        calm = 0;
        fast = false;
      }
      if (fast) {
        window += bytes / 4;
      } else {
        inc += 4000.0 / 12 * bytes * (kTarget - delay);
      }
    } else if (delay >= kTarget) {
      fast = false;
      calm = 0;
      if (mean > kTarget && now - cut > 12) {
        window *= std::max(0.5, 1 - 0.8 * (mean - kTarget) / mean);
        cut = now;
      }
    }
    bound();
    if (since > 8000 || now - adjusted >= 12) {
      window += inc / window;
      if (now - adjusted >= 12) {
        window += 150;
        adjusted = now;
      }
      inc = since = 0;
    }
    bound();
  }
  void trim(double now, double bytes, double in_flight) {
    ignored += bytes;
    mean = (1 - 0.0125) * mean + 0.0125 * 12;
    adapt = true;
    if (quick(now, true, true, 0, in_flight)) return;
    window -= bytes;
    bound();
  }
};

TEST_CASE("NSCC follows its law over random answers") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  RandomStream random(seed, 4);
  Flow flow(kFlow, {});
  Oracle oracle;
  double now = 0, least = 1e9;
  for (int i = 0; i < 5000; ++i) {
    // Whole nanoseconds, and phases of calm, long queues and trims.
    now += static_cast<double>(random.below(2000)) / 1000;
    const int phase = i / 500 % 4;
    const double delay = static_cast<double>(random.below(phase == 0   ? 1000
                                                          : phase == 1 ? 12'000
                                                                       : 50'000)) /
                         1000;
    const bool marked = random.below(4) < static_cast<std::uint64_t>(phase);
    const double in_flight = static_cast<double>(random.below(100'000));
    if (phase == 3 && random.below(4) != 0) {
      oracle.trim(now, 1000, in_flight);
      REQUIRE(flow.trim(now, 1000, in_flight) == Approx(oracle.window).margin(1));
    } else {
      oracle.ack(now, delay, marked, 1000, in_flight);
      REQUIRE(flow.ack(now, delay, marked, 1000, in_flight) == Approx(oracle.window).margin(1));
    }
    least = std::min(least, oracle.window);
  }
  REQUIRE(least < 100'000);  // something happened
}

TEST_CASE("NSCC: time that ACKs wait at the receiver is no queueing") {
  Flow flow(kFlow, {{"initial_window", "100"}});
  const auto ack = [&](Time rtt, Time host) {
    flow.sender->on_ack(
        {.now = Time::us(1), .rtt = rtt, .host_delay = host, .bytes = 1000, .in_flight = 1000});
  };
  ack(Time::us(12), Time::us(2));  // the base holds what is in hosts: 2 us
  for (int i = 0; i < 7; ++i) ack(Time::us(12 + 3 + 50), Time::us(2 + 50));  // 3 us in queues, 50 us held
  ack(Time::us(15), Time::us(2));
  // As above: 2000 for each byte, and 3000 for the first, without a queue.
  REQUIRE(flow.window() == Approx(100'000 + (8 * 2000.0 + 3000) * 1000 / 100'000).margin(1));
}

TEST_CASE("NSCC refuses values that make no sense") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"target", "0us"},
                                                                      {"target_share", "0"},
                                                                      {"largest_window", "0"},
                                                                      {"gamma", "1.5"},
                                                                      {"least_share", "0"},
                                                                      {"delay_weight", "0"},
                                                                      {"initial_window", "-1"},
                                                                      {"adjust_packets", "0"},
                                                                      {"quick_adapt_gate", "31"},
                                                                      {"fair_gain", "-1"},
                                                                      {"reference_rtt", "0us"}}) {
    INFO(name);
    REQUIRE_THROWS_AS(Flow(kFlow, {{name, value}}), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion
