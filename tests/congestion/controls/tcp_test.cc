// NewReno against RFC 5681 and 6582, CUBIC against RFC 9438.
#include <algorithm>
#include <cmath>

#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

constexpr FlowInfo kFlow{.mtu_bytes = 1000,
                         .line_rate = Bandwidth::gbps(1),
                         .base_rtt = Time::us(100'000),
                         .bdp_bytes = 12'500'000};

// Never less than the window in flight, so that it is in use.
void ack(DrivenSender& flow, std::uint64_t bytes, Time now = Time(), bool marked = false) {
  const auto window = static_cast<std::uint64_t>(flow.window());
  flow->on_ack({.now = now,
                .rtt = Time::us(100'000),
                .bytes = bytes,
                .in_flight = window - std::min(bytes, window),
                .ecn_marked = marked});
}

TEST_CASE("slow start, of ten packets, doubles them each round trip; one that isn't used stays") {
  const std::string name = GENERATE("newreno", "cubic");
  DrivenSender flow(name, {}, kFlow);
  flow->start(Time());
  REQUIRE(flow.window() == 10'000);
  for (int i = 0; i < 10; ++i) ack(flow, 1000);
  REQUIRE(flow.window() == 20'000);
  // The last of what was in flight with the window full; from then on it isn't used.
  flow->on_ack({.rtt = Time::us(100'000), .bytes = 1000, .in_flight = 0});
  REQUIRE(flow.window() == 21'000);
  flow->on_ack({.rtt = Time::us(100'000), .bytes = 1000, .in_flight = 5000});
  REQUIRE(flow.window() == 21'000);
  REQUIRE(DrivenSender(name, {{"initial_window", "0"}}, kFlow).window() == 0);
}

TEST_CASE("NewReno: half once for each window of data, then a packet per round trip") {
  DrivenSender flow("newreno", {{"initial_window", "40"}}, kFlow);
  flow->start(Time());
  // One more is acknowledged, and a loss found: 40 packets are in flight, one of them lost.
  flow->on_ack({.bytes = 1000, .in_flight = 39'000});
  REQUIRE(flow.window() == 41'000);
  flow->on_loss({.bytes = 1000});
  REQUIRE(flow.window() == 20'000);
  // Other losses of the same 40 packets change nothing, nor do their ACKs.
  for (int i = 0; i < 39; ++i) ack(flow, 1000);
  flow->on_loss({.bytes = 2000});
  REQUIRE(flow.window() == 20'000);
  ack(flow, 1000);
  REQUIRE(flow.window() == 20'000);
  double packets = 20;
  for (int i = 0; i < 100; ++i) {
    ack(flow, 1000);
    packets += 1 / packets;
    REQUIRE(flow.window() == Approx(packets * 1000).margin(1.5));
  }
  const double flight = flow.window();
  flow->on_loss({.bytes = 1000});
  REQUIRE(flow.window() == Approx(flight / 2).margin(1001));
}

TEST_CASE("NewReno: marks are answered as losses, or not at all") {
  DrivenSender flow("newreno", {{"initial_window", "40"}}, kFlow);
  flow->start(Time());
  ack(flow, 1000, Time(), true);
  REQUIRE(flow.window() == 20'000);
  ack(flow, 1000, Time(), true);
  REQUIRE(flow.window() == 20'000);
  DrivenSender blind("newreno", {{"initial_window", "40"}, {"ecn", "false"}}, kFlow);
  blind->start(Time());
  ack(blind, 1000, Time(), true);
  REQUIRE(blind.window() == 41'000);
}

TEST_CASE("NewReno: a timeout leaves one packet, and slow start up to half of what was in flight") {
  DrivenSender flow("newreno", {{"initial_window", "40"}}, kFlow);
  flow->start(Time());
  flow->on_ack({.bytes = 1000, .in_flight = 39'000});
  flow->on_timeout({.bytes = 39'000});
  REQUIRE(flow.window() == 1000);
  flow->on_timeout({.bytes = 1000});  // again: the threshold stays at 19.5 packets
  for (const double window : {2000, 4000, 8000, 16'000}) {
    ack(flow, static_cast<std::uint64_t>(flow.window()));
    REQUIRE(flow.window() == window);
  }
  ack(flow, 4000);
  REQUIRE(flow.window() == 20'000);
  ack(flow, 1000);
  REQUIRE(flow.window() == 20'050);
}

// RFC 9438 in packets and seconds, for one epoch after a cut of a window in full use.
struct Rfc9438 {
  double cwnd, w_max, cwnd_prior, k, w_est, epoch = -1;
  double rtt = 0.1;
  Rfc9438(double before, double last_w_max) {
    cwnd_prior = before;
    w_max = before < last_w_max ? before * (1 + 0.7) / 2 : before;
    cwnd = before * 0.7;
    k = std::cbrt((w_max - cwnd) / 0.4);
    w_est = cwnd;
  }
  double w_cubic(double t) const { return 0.4 * std::pow(t - k, 3) + w_max; }
  void ack(double now, double segments) {
    if (epoch < 0) epoch = now;
    const double t = now - epoch;
    const double alpha = w_est >= cwnd_prior ? 1 : 3 * 0.3 / 1.7;
    w_est += alpha * segments / cwnd;
    if (w_cubic(t) < w_est) {
      cwnd = w_est;
      return;
    }
    double target = w_cubic(t + rtt);
    if (target < cwnd) target = cwnd;
    if (target > 1.5 * cwnd) target = 1.5 * cwnd;
    cwnd += (target - cwnd) / cwnd * segments;
  }
};

TEST_CASE("CUBIC follows its equations: up to the plateau, beyond it, and as Reno where that is faster") {
  const double first = GENERATE(10'000, 1000, 20);
  DrivenSender flow("cubic", {{"initial_window", std::to_string(static_cast<int>(first))}}, kFlow);
  flow->start(Time());
  double before = first, w_max = 0, now = 1;
  for (int cuts = 0; cuts < 3; ++cuts) {
    ack(flow, static_cast<std::uint64_t>(flow.window()), Time::ps(static_cast<std::int64_t>(now * 1e12)),
        true);
    Rfc9438 oracle(before, w_max);
    REQUIRE(flow.window() == Approx(oracle.cwnd * 1000).margin(5));
    // The rest of the window of data that was cut.
    ack(flow, static_cast<std::uint64_t>(before * 1000) + 1000,
        Time::ps(static_cast<std::int64_t>((now + 0.05) * 1e12)));
    // Ten acknowledgements a round trip, for 12 seconds; then 4, so that the next cut comes below the last
    // one.
    const int acks = cuts == 0 ? 1200 : 400;
    for (int i = 0; i < acks; ++i) {
      now += 0.01;
      const double segments = std::floor(oracle.cwnd / 10 * 1000) / 1000;
      ack(flow, static_cast<std::uint64_t>(std::llround(segments * 1000)),
          Time::ps(static_cast<std::int64_t>(now * 1e12)));
      oracle.ack(now, segments);
      REQUIRE(flow.window() == Approx(oracle.cwnd * 1000).epsilon(1e-3));
    }
    if (cuts == 0 && first == 1000) REQUIRE(oracle.cwnd > first);  // K = 9.1 s
    before = oracle.cwnd;
    w_max = oracle.w_max;
  }
}

TEST_CASE("CUBIC: a timeout leaves one packet, slow start to 0.7 of the flight, and a plateau there") {
  DrivenSender flow("cubic", {{"initial_window", "40"}}, kFlow);
  flow->start(Time());
  flow->on_ack({.rtt = Time::us(100'000), .bytes = 1000, .in_flight = 40'000});
  flow->on_timeout({.bytes = 40'000});
  REQUIRE(flow.window() == 1000);
  for (int i = 0; i < 5; ++i) ack(flow, static_cast<std::uint64_t>(flow.window()), Time::us(1'000'000));
  REQUIRE(flow.window() == 32'000);  // beyond 28
  // K = 0: at first it hardly grows; Reno's step, 0.529 per window, is larger.
  ack(flow, 32'000, Time::us(1'000'000));
  REQUIRE(flow.window() == Approx(32'000 + 1000 * 3 * 0.3 / 1.7).margin(2));
}

TEST_CASE("CUBIC: time in which the window isn't used doesn't count") {
  DrivenSender busy("cubic", {{"initial_window", "1000"}}, kFlow),
      idle("cubic", {{"initial_window", "1000"}}, kFlow);
  for (DrivenSender* flow : {&busy, &idle}) {
    (*flow)->start(Time());
    ack(*flow, 1000, Time::us(0), true);
    ack(*flow, 1'000'000, Time::us(10));                                              // over
    ack(*flow, 1000, Time::us(20));                                                   // the epoch begins
    (*flow)->on_ack({.now = Time::us(20), .rtt = Time::us(100'000), .bytes = 1000});  // all has come
  }
  idle->on_ack({.now = Time::us(8'000'020), .rtt = Time::us(100'000), .bytes = 1000, .in_flight = 0});
  ack(busy, 100'000, Time::us(100'020));
  ack(idle, 100'000, Time::us(8'100'020));
  REQUIRE(idle.window() == busy.window());
}

TEST_CASE("impossible parameters of TCP are refused") {
  REQUIRE_THROWS_AS(DrivenSender("newreno", {{"initial_window", "-1"}}, kFlow), InputError);
  REQUIRE_THROWS_AS(DrivenSender("cubic", {{"c", "0"}}, kFlow), InputError);
  REQUIRE_THROWS_AS(DrivenSender("cubic", {{"beta", "1"}}, kFlow), InputError);
}

}  // namespace
}  // namespace weft::congestion
