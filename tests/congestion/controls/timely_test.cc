// TIMELY against algorithm 1 of its paper.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/units/random.h"
#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

// The paper's setting: 10 Gb/s, 20 us.
constexpr FlowInfo kFlow{
    .mtu_bytes = 1000, .line_rate = Bandwidth::gbps(10), .base_rtt = Time::us(20), .bdp_bytes = 25'000};
const std::map<std::string, std::string> kPaper = {
    {"t_low", "50us"}, {"t_high", "500us"}, {"min_rtt", "20us"}, {"segment", "1kB"}};

std::map<std::string, std::string> with(std::map<std::string, std::string> given, const std::string& name,
                                        const std::string& value) {
  given[name] = value;
  return given;
}

double ack(DrivenSender& flow, std::int64_t rtt_ns, std::uint64_t bytes = 1000) {
  flow->on_ack({.rtt = Time::ns(rtt_ns), .bytes = bytes});
  return flow.rate();
}

TEST_CASE("TIMELY: each branch by hand") {
  DrivenSender flow("timely", with(kPaper, "initial_rate", "0.5"), kFlow);
  flow->start(Time());
  REQUIRE(flow.rate() == 5e9);
  REQUIRE(flow->allowed().window_bytes > std::uint64_t{1} << 30);
  // Below T_low: + delta = 10 Mb/s.
  REQUIRE(ack(flow, 40'000) == near(5.01e9));
  // Rising by 60 us: diff = 0.125 * 0 + 0.875 * 60 = 52.5 us; gradient 52.5 / 20 = 2.625; 1 - 0.8 * 2.625 is
  // below 0: the least rate.
  REQUIRE(ack(flow, 100'000) == near(1e8));
  // Falling by 10 us: diff = 0.125 * 52.5 + 0.875 * -10 = -2.1875: + delta.
  REQUIRE(ack(flow, 90'000) == near(1.1e8));
  // Above T_high, 1000 us: 1 - 0.8 * (1 - 0.5) = 0.6; the slope doesn't matter.
  REQUIRE(ack(flow, 1'000'000) == near(1e8));  // 0.66e8, but for the least rate
}

TEST_CASE("TIMELY: five falling round trips in a row make the steps five times as large") {
  DrivenSender flow("timely", with(kPaper, "initial_rate", "0.1"), kFlow);
  flow->start(Time());
  double expected = 1e9;
  for (int i = 0; i < 4; ++i) REQUIRE(ack(flow, 100'000 - i) == near(expected += 1e7));
  REQUIRE(ack(flow, 99'990) == near(expected += 5e7));
  REQUIRE(ack(flow, 99'980) == near(expected += 5e7));
  // A slope upwards ends it: diff = 0.125 * d + 0.875 * 20 ns.
  double diff = 0;
  for (const double step : {0.0, -1.0, -1.0, -1.0, -7.0, -10.0, 20.0}) diff = 0.125 * diff + 0.875 * step;
  REQUIRE(ack(flow, 100'000) == near(expected *= 1 - 0.8 * diff / 20'000));
  REQUIRE(ack(flow, 99'000) == near(expected += 1e7));
}

// Algorithm 1, in nanoseconds, as it is printed.
struct Algorithm1 {
  double rate = 1e10, prev_rtt = 0, rtt_diff = 0;
  int completion_events = 0;
  void operator()(double new_rtt) {
    if (prev_rtt == 0) prev_rtt = new_rtt;
    const double new_rtt_diff = new_rtt - prev_rtt;
    prev_rtt = new_rtt;
    rtt_diff = (1 - 0.875) * rtt_diff + 0.875 * new_rtt_diff;
    const double normalized_gradient = rtt_diff / 20'000;
    completion_events = normalized_gradient <= 0 ? completion_events + 1 : 0;
    if (new_rtt < 50'000) {
      rate = rate + 1e7;
    } else if (new_rtt > 500'000) {
      rate = rate * (1 - 0.8 * (1 - 500'000 / new_rtt));
    } else if (normalized_gradient <= 0) {
      rate = rate + (completion_events >= 5 ? 5 : 1) * 1e7;
    } else {
      rate = rate * (1 - 0.8 * normalized_gradient);
    }
    rate = std::clamp(rate, 1e8, 1e10);
  }
};

TEST_CASE("TIMELY follows its algorithm through random round trips") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 5);
    DrivenSender flow("timely", kPaper, kFlow);
    flow->start(Time());
    Algorithm1 oracle;
    std::int64_t rtt = 30'000;
    for (int i = 0; i < 500; ++i) {
      rtt = std::clamp<std::int64_t>(rtt + static_cast<std::int64_t>(random.below(40'001)) - 20'000, 20'000,
                                     700'000);
      if (random.below(50) == 0) rtt = 600'000;
      oracle(static_cast<double>(rtt));
      REQUIRE(ack(flow, rtt) == Approx(oracle.rate).epsilon(1e-6));
    }
  }
}

TEST_CASE("TIMELY, patched: between the limits a mix of a step and a cut by how far the round trip is off") {
  DrivenSender flow("timely", with(with(kPaper, "initial_rate", "0.5"), "variant", "patched"), kFlow);
  flow->start(Time());
  // The first one has no slope: w = 1/2. 100 us are 1 over the reference of 50: half a step, less 0.008 / 2.
  double expected = 5e9;
  REQUIRE(ack(flow, 100'000) == near(expected = 5e6 + expected * (1 - 0.004)));
  // A slope of a quarter or more: w = 1. 0.875 * 10 us / 20 us = 0.4375.
  REQUIRE(ack(flow, 110'000) == near(expected *= 1 - 0.008 * 1.2));
  // diff = 0.125 * 8.75 - 0.875 * 2 = -0.65625 us: w = 1/2 - 2 * 0.0328125.
  const double w = 0.5 - 2 * 0.65625 / 20;
  REQUIRE(ack(flow, 108'000) == near(expected = (1 - w) * 1e7 + expected * (1 - 0.008 * w * 1.16)));
  // Falling by a quarter or more: a whole step. Outside of the limits as in the paper, but for beta.
  REQUIRE(ack(flow, 80'000) == near(expected += 1e7));
  REQUIRE(ack(flow, 40'000) == near(expected += 1e7));
  REQUIRE(ack(flow, 1'000'000) == near(expected *= 1 - 0.008 * 0.5));
}

TEST_CASE("TIMELY: an update for each segment, limits from the path, and losses once a round trip") {
  DrivenSender flow("timely", {{"initial_rate", "0.5"}}, kFlow);  // T_low 30 us, T_high 300 us, 16 KB
  flow->start(Time());
  for (int i = 0; i < 15; ++i) REQUIRE(ack(flow, 29'000) == 5e9);
  REQUIRE(ack(flow, 29'000) == near(5.01e9));
  REQUIRE(ack(flow, 400'000, 16'000) == near(5.01e9 * (1 - 0.8 * (1 - 300.0 / 400))));
  double expected = flow.rate();
  flow->on_loss({.now = Time::us(100), .bytes = 1000});
  REQUIRE(flow.rate() == near(expected /= 2));
  flow->on_loss({.now = Time::us(119), .bytes = 1000});
  REQUIRE(flow.rate() == near(expected));
  flow->on_timeout({.now = Time::us(120), .bytes = 1000});
  REQUIRE(flow.rate() == near(expected /= 2));
}

TEST_CASE("TIMELY: an ACK of several segments is as many completion events, and held ACKs are no queue") {
  DrivenSender once("timely", with(kPaper, "initial_rate", "0.5"), kFlow),
      each("timely", with(kPaper, "initial_rate", "0.5"), kFlow);
  once->start(Time());
  each->start(Time());
  REQUIRE(ack(once, 60'000) == ack(each, 60'000));
  // Rising, falling often enough for larger steps, and short.
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{60, 64}, {64, 56}, {56, 40}, {40, 44}}) {
    ack(once, to * 1000, 4000);
    for (int i = 1; i <= 4; ++i) ack(each, from * 1000 + (to - from) * 250 * i);
    REQUIRE(once.rate() == near(each.rate()));
  }
  // Not whole ones: the rest counts with the next ACK.
  for (int i = 0; i < 2; ++i) ack(once, 44'000, 1500);
  for (int i = 0; i < 3; ++i) ack(each, 44'000);
  REQUIRE(once.rate() == near(each.rate()));
  once->on_ack({.rtt = Time::us(70), .host_delay = Time::us(15), .bytes = 1000});
  REQUIRE(once.rate() == near(ack(each, 55'000)));
}

TEST_CASE("TIMELY: impossible parameters are refused") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"variant", "other"},
                                                                      {"weight", "0"},
                                                                      {"beta", "1"},
                                                                      {"step", "0"},
                                                                      {"t_low", "0us"},
                                                                      {"t_high", "40us"},
                                                                      {"initial_rate", "1.5"},
                                                                      {"min_rate", "10"},
                                                                      {"hai_after", "0"},
                                                                      {"hai_factor", "0"},
                                                                      {"loss_decrease", "1"}}) {
    INFO(name);
    REQUIRE_THROWS_AS(DrivenSender("timely", with(kPaper, name, value), kFlow), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion
