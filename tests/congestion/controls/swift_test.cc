// Swift against algorithm 1 of its paper.
#include <algorithm>
#include <cmath>

#include "sim/units/random.h"
#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

constexpr FlowInfo kFlow{.mtu_bytes = 1000,
                         .line_rate = Bandwidth::gbps(8),
                         .base_rtt = Time::us(12),
                         .bdp_bytes = 12'000,
                         .hops = 6};
// htsim's targets.
const std::map<std::string, std::string> kFixed = {
    {"base_target", "20us"}, {"hop_target", "3us"}, {"initial_window", "10"}};

std::map<std::string, std::string> with(std::map<std::string, std::string> given, const std::string& name,
                                        const std::string& value) {
  given[name] = value;
  return given;
}

// The paper's algorithm, windows in packets and times in microseconds, with the defaults of the module.
struct Algorithm1 {
  double cwnd = 10, t_last_decrease = -1e9;
  double target_delay(double hops) const {
    const double fs_range = 100, alpha = fs_range / (1 / std::sqrt(0.1) - 1 / std::sqrt(100.0));
    const double beta = -alpha / std::sqrt(100.0);
    return 20 + hops * 3 + std::max(0.0, std::min(alpha / std::sqrt(cwnd) + beta, fs_range));
  }
  void on_ack(double now, double delay, double rtt, double num_acked, double hops) {
    const double target = target_delay(hops), before = cwnd;
    const bool can_decrease = now - t_last_decrease >= rtt;
    if (delay < target) {
      cwnd = cwnd >= 1 ? cwnd + 1 / cwnd * num_acked : cwnd + num_acked;
    } else if (can_decrease) {
      cwnd = std::max(1 - 0.8 * (delay - target) / delay, 1 - 0.5) * cwnd;
    }
    cwnd = std::clamp(cwnd, 0.01, 1000.0);
    if (cwnd < before) t_last_decrease = now;
  }
};

TEST_CASE("Swift: below, at and above the target by hand, once a round trip") {
  DrivenSender flow("swift", with(kFixed, "fs_range", "0us"), kFlow);
  flow->start(Time());
  REQUIRE(flow.window() == 10'000);
  REQUIRE(flow.rate() == 0);
  // Target 20 + 6 * 3 = 38 us. 37 us: + 1/10 packet.
  flow->on_ack({.now = Time::us(100), .rtt = Time::us(37), .bytes = 1000, .in_flight = 9000, .hops = 6});
  REQUIRE(flow.window() == near(10'100));
  // 50 us: cut by 0.8 * 12 / 50 = 0.192.
  flow->on_ack({.now = Time::us(200), .rtt = Time::us(50), .bytes = 1000, .in_flight = 9000, .hops = 6});
  REQUIRE(flow.window() == near(10'100 * 0.808));
  // Within a round trip of 50 us: no other cut; after it 200 us would be cut by 0.648, but for the largest.
  flow->on_ack({.now = Time::us(249), .rtt = Time::us(50), .bytes = 1000, .in_flight = 9000, .hops = 6});
  REQUIRE(flow.window() == near(10'100 * 0.808));
  flow->on_ack({.now = Time::us(450), .rtt = Time::us(200), .bytes = 1000, .in_flight = 9000, .hops = 6});
  REQUIRE(flow.window() == near(10'100 * 0.808 * 0.5));
  // Two hops less: the target is 32 us.
  flow->on_ack({.now = Time::us(900), .rtt = Time::us(35), .bytes = 1000, .in_flight = 9000, .hops = 4});
  REQUIRE(flow.window() == near(10'100 * 0.808 * 0.5 * (1 - 0.8 * 3 / 35)));
  // The last of what was in flight with the window full. What comes then doesn't use it: it doesn't grow.
  flow->on_ack({.now = Time::us(940), .rtt = Time::us(20), .bytes = 1000, .in_flight = 0, .hops = 6});
  const double window = flow.window();
  flow->on_ack({.now = Time::us(950), .rtt = Time::us(20), .bytes = 1000, .in_flight = 0, .hops = 6});
  REQUIRE(flow.window() == window);
}

TEST_CASE("Swift follows its algorithm through random delays, flow scaling and windows below one included") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 6);
    DrivenSender flow("swift", kFixed, kFlow);
    flow->start(Time());
    Algorithm1 oracle;
    double now = 0, least = 10;
    for (int i = 0; i < 500; ++i) {
      now += static_cast<double>(random.below(40));
      const double rtt = 25 + static_cast<double>(random.below(i < 300 ? 250 : 40));
      const auto hops = static_cast<std::uint32_t>(2 + 2 * random.below(3));
      oracle.on_ack(now, rtt, rtt, 1, hops);
      least = std::min(least, oracle.cwnd);
      flow->on_ack({.now = Time::ps(static_cast<std::int64_t>(now * 1e6)),
                    .rtt = Time::ps(static_cast<std::int64_t>(rtt * 1e6)),
                    .bytes = 1000,
                    .in_flight = 1'000'000,
                    .hops = hops});
      REQUIRE(flow.window() == near(std::max(1.0, oracle.cwnd) * 1000));
      // Below one packet: one is sent every rtt / cwnd.
      const double spacing_us = oracle.cwnd < 1 ? rtt / oracle.cwnd : 0;
      REQUIRE(flow.rate() == near(spacing_us == 0 ? 0 : 8000 / spacing_us * 1e6));
    }
    REQUIRE(least < 1);
  }
}

TEST_CASE("Swift: losses cut by half once a round trip, five timeouts in a row leave the least window") {
  DrivenSender flow("swift", kFixed, kFlow);
  flow->start(Time());
  flow->on_loss({.now = Time::us(50), .bytes = 1000});
  REQUIRE(flow.window() == 5000);
  flow->on_loss({.now = Time::us(61), .bytes = 1000});  // the round trip is 12 us
  REQUIRE(flow.window() == 5000);
  for (int i = 1; i <= 4; ++i) {
    flow->on_timeout({.now = Time::us(100 * i), .bytes = 1000});
    REQUIRE(flow.window() == near(std::max(1000.0, 5000 * std::pow(0.5, i))));
  }
  flow->on_timeout({.now = Time::us(500), .bytes = 1000});
  // 0.01 packets: 8000 bits in 1200 us.
  REQUIRE(flow.rate() == near(8000 / 1200e-6));
  flow->on_ack({.now = Time::us(2000), .rtt = Time::us(12), .bytes = 1000, .in_flight = 0, .hops = 6});
  REQUIRE(flow.window() == near(1010));  // below one packet an ACK adds a whole one
}

TEST_CASE("Swift: what passes in hosts is not the fabric's, and has a target of its own") {
  DrivenSender flow("swift", with(kFixed, "endpoint_weight", "1"), kFlow);
  flow->start(Time());
  // 150 us in all, of which the fabric took 30: the hosts' window is cut by 0.8 * 20 / 120.
  flow->on_ack({.now = Time::us(200),
                .rtt = Time::us(150),
                .host_delay = Time::us(120),
                .bytes = 1000,
                .in_flight = 9000,
                .hops = 6});
  REQUIRE(flow.window() == near(10'000 * (1 - 0.8 * 20 / 120)));
  // 90 us there: both grow, the smaller one counts.
  const double window = flow.window() / 1000;
  flow->on_ack({.now = Time::us(300),
                .rtt = Time::us(120),
                .host_delay = Time::us(90),
                .bytes = 1000,
                .in_flight = 9000,
                .hops = 6});
  REQUIRE(flow.window() == Approx((window + 1 / window) * 1000).margin(2));
}

TEST_CASE("Swift: default targets follow the path") {
  // Base 12 / 4 = 3 us, 12 / 6 = 2 us for each of six hops: 15 us at windows of 100 packets.
  DrivenSender flow("swift", {{"initial_window", "100"}}, kFlow);
  flow->start(Time());
  flow->on_ack({.now = Time::us(100), .rtt = Time::us(14), .bytes = 1000, .in_flight = 99'000, .hops = 6});
  REQUIRE(flow.window() == near(100'010));
  flow->on_ack({.now = Time::us(200), .rtt = Time::us(16), .bytes = 1000, .in_flight = 99'000, .hops = 6});
  REQUIRE(flow.window() == near(100'010 * (1 - 0.8 / 16)));
}

TEST_CASE("Swift: default targets are of the network, without what passes in hosts") {
  // A round trip takes 20 us, of which hosts take 8: targets are as of 12 us.
  FlowInfo slow_hosts = kFlow;
  slow_hosts.host_delay = Time::us(8);
  slow_hosts.base_rtt = kFlow.base_rtt + slow_hosts.host_delay;
  DrivenSender flow("swift", {{"initial_window", "100"}}, slow_hosts);
  flow->start(Time());
  const auto ack = [&](std::int64_t at_us, std::int64_t rtt_us) {
    flow->on_ack({.now = Time::us(at_us),
                  .rtt = Time::us(rtt_us),
                  .host_delay = Time::us(8),
                  .bytes = 1000,
                  .in_flight = 99'000,
                  .hops = 6});
  };
  ack(100, 22);
  REQUIRE(flow.window() == near(100'010));
  ack(200, 24);
  REQUIRE(flow.window() == near(100'010 * (1 - 0.8 / 16)));
}

TEST_CASE("Swift: the greatest window follows the path, the longest that packets may take") {
  FlowInfo far = kFlow;
  far.bdp_bytes = 2'000'000;  // 2,000 packets
  const auto most = [](const FlowInfo& flow, std::map<std::string, std::string> given) {
    DrivenSender sender("swift", given, flow);
    sender->start(Time());
    // Below the target, with the window in use, an ACK for a whole window adds a packet.
    for (int i = 0; i < 20'000; ++i) {
      const auto window = static_cast<std::uint64_t>(sender.window());
      sender->on_ack({.now = Time::us(1), .rtt = Time::us(1), .bytes = window, .in_flight = window});
    }
    return sender.window();
  };
  CHECK(most(kFlow, {}) == 1'000'000);
  CHECK(most(far, {}) == 4'000'000);
  far.longest_rtt = far.base_rtt * 3;
  CHECK(most(far, {}) == 12'000'000);
  CHECK(most(far, {{"max_window", "1000"}}) == 1'000'000);
  CHECK(most(kFlow, {{"initial_window", "5000"}}) == 5'000'000);
  CHECK_THROWS_WITH(most(far, {{"initial_window", "5000"}, {"max_window", "1000"}}),
                    Catch::Contains("initial_window") && Catch::Contains("max_window"));
}

TEST_CASE("Swift: impossible parameters are refused") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"ai", "0"},
                                                                      {"beta", "1.1"},
                                                                      {"max_mdf", "0"},
                                                                      {"fs_min", "0"},
                                                                      {"fs_max", "0.05"},
                                                                      {"base_target", "0us"},
                                                                      {"min_window", "0"},
                                                                      {"max_window", "0.5"},
                                                                      {"endpoint_weight", "2"},
                                                                      {"reset_after", "0"},
                                                                      {"initial_window", "-1"}}) {
    INFO(name);
    REQUIRE_THROWS_AS(DrivenSender("swift", with(kFixed, name, value), kFlow), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion
