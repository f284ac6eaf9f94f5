// Congestion controls against RFC 8257's formulas, worked by hand.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "congestion/controls/controls.h"

namespace weft::congestion {
namespace {

// One sender of a named control with the parameters given.
struct Flow {
  Flow(const std::string& name, const std::map<std::string, std::string>& given, const FlowInfo& info) {
    const Control& control = find_module(controls(), {.name = name, .given = {}, .location = {}}, "control");
    factory = control.make_factory(Parameters(control.info, given));
    storage.resize(factory->sender_bytes() / sizeof(double) + 2);
    sender = factory->construct(storage.data(), info);
  }
  ~Flow() { sender->~Sender(); }
  std::uint64_t ack(std::uint64_t bytes, std::uint64_t in_flight, bool marked) {
    sender->on_ack({.bytes = bytes, .in_flight = in_flight, .ecn_marked = marked});
    return window();
  }
  std::uint64_t start() {
    sender->start(Time());
    return window();
  }
  std::uint64_t lose(std::uint64_t bytes) {
    sender->on_loss({.bytes = bytes});
    return window();
  }
  std::uint64_t time_out() {
    sender->on_timeout({});
    return window();
  }
  std::uint64_t window() const { return sender->allowed().window_bytes; }
  std::unique_ptr<SenderFactory> factory;
  std::vector<double> storage;
  Sender* sender = nullptr;
};

constexpr FlowInfo kFlow{
    .mtu_bytes = 1000, .line_rate = Bandwidth::gbps(80), .base_rtt = Time::us(10), .bdp_bytes = 100'000};

TEST_CASE("every control has a name, a sentence, a source and works with its defaults") {
  for (const Control& control : controls()) {
    INFO(control.info.name);
    REQUIRE_FALSE(control.info.summary.empty());
    REQUIRE_FALSE(control.info.source.empty());
    Flow flow(control.info.name, {}, kFlow);
    REQUIRE(flow.start() >= 1000);
  }
}

TEST_CASE("a fixed window stays as it is") {
  Flow flow("fixed_window", {{"packets", "7"}}, kFlow);
  REQUIRE(flow.start() == 7000);
  REQUIRE(flow.ack(1000, 6000, true) == 7000);
  REQUIRE(flow.lose(1000) == 7000);
  REQUIRE(flow.time_out() == 7000);
  REQUIRE_THROWS_AS(Flow("fixed_window", {{"packets", "0"}}, kFlow), InputError);
}

TEST_CASE("a fixed window is for ACKs of the longest way, an eighth of which may be held back") {
  REQUIRE(Flow("fixed_window", {}, kFlow).start() == 114'285);  // 7/8 of it are 100 KB
  FlowInfo near = kFlow, detours = kFlow;
  near.bdp_bytes = 80'000;
  REQUIRE(Flow("fixed_window", {}, near).start() == 100'000);
  detours.longest_rtt = Time::us(35);
  REQUIRE(Flow("fixed_window", {}, detours).start() == 400'000);
}

TEST_CASE("DCTCP starts with the bandwidth-delay product, or as told, and never below one packet") {
  REQUIRE(Flow("dctcp", {}, kFlow).start() == 100'000);
  REQUIRE(Flow("dctcp", {{"initial_window", "3"}}, kFlow).start() == 3000);
  FlowInfo near = kFlow;
  near.bdp_bytes = 10;
  REQUIRE(Flow("dctcp", {}, near).start() == 1000);
}

TEST_CASE("DCTCP's estimate and cut, window by window") {
  // g = 1/16, alpha starts at 0 here; window 10 packets of 1000 B.
  Flow flow("dctcp", {{"initial_window", "10"}, {"initial_alpha", "0"}}, kFlow);
  flow.start();
  // The first ACK ends the (empty) window before the first: alpha = 0 + 1/16 × (0 - 0) = 0. Increase by
  // mtu²/W = 1000 × 1000 / 10000 = 100 B. What is in flight, 9 packets, is the next window of data.
  REQUIRE(flow.ack(1000, 9000, false) == 10'100);
  // Nine ACKs, of which 1 … 4 unmarked (window in use each time), the fifth marked: alpha is still 0, so the
  // cut is by nothing; and no increase comes from a marked ACK.
  double window = 10'100;
  for (int i = 0; i < 4; ++i) {
    window += 1000.0 * 1000.0 / window;
    REQUIRE(flow.ack(1000, 9000, false) == static_cast<std::uint64_t>(window));
  }
  REQUIRE(flow.ack(1000, 9000, true) == static_cast<std::uint64_t>(window));
  // Three more marked ones: once per window of data, so no further change. The ninth ends the window with
  // 5 of 9 marked: alpha = 1/16 × 5/9 = 0.034722….
  for (int i = 0; i < 4; ++i) {
    REQUIRE(flow.ack(1000, 9000, true) == static_cast<std::uint64_t>(window));
  }
  double alpha = 5.0 / 9 / 16;
  // The next mark cuts by alpha / 2.
  window *= 1 - alpha / 2;
  REQUIRE(flow.ack(1000, 9000, true) == static_cast<std::uint64_t>(window));
  // Eight unmarked ACKs end that window with 1 of 9 marked. They are of what was in flight while the window
  // was full, so it still grows.
  for (std::uint64_t left = 8; left > 0; --left) {
    window += 1000.0 * 1000.0 / window;
    REQUIRE(flow.ack(1000, left * 1000, false) == static_cast<std::uint64_t>(window));
  }
  alpha += (1.0 / 9 - alpha) / 16;
  window *= 1 - alpha / 2;
  REQUIRE(flow.ack(1000, 0, true) == static_cast<std::uint64_t>(window));
  // From then on it is not what limits the sender, and does not grow.
  REQUIRE(flow.ack(1000, 2000, false) == static_cast<std::uint64_t>(window));
}

TEST_CASE("DCTCP's first alpha is 0 with a full first window, and RFC 8257's 1 in slow start") {
  Flow full("dctcp", {}, kFlow);
  full.start();
  REQUIRE(full.ack(1000, 99'000, true) == 100'000);
  Flow slow("dctcp", {{"slow_start", "true"}, {"initial_window", "20"}}, kFlow);
  slow.start();
  REQUIRE(slow.ack(1000, 19'000, true) == 10'000);
  Flow told("dctcp", {{"slow_start", "true"}, {"initial_window", "20"}, {"initial_alpha", "0"}}, kFlow);
  told.start();
  REQUIRE(told.ack(1000, 19'000, true) == 20'000);
}

TEST_CASE("all marked: alpha tends to 1 and the window is halved each time, as TCP's would be") {
  Flow flow("dctcp", {{"initial_alpha", "1"}, {"initial_window", "64"}}, kFlow);
  flow.start();
  // Each ACK stands for the whole window in flight: every one ends a window of data.
  REQUIRE(flow.ack(64'000, 0, true) == 32'000);
  REQUIRE(flow.ack(32'000, 0, true) == 16'000);
  for (int i = 0; i < 10; ++i) flow.ack(16'000, 0, true);
  REQUIRE(flow.ack(1000, 0, true) == 1000);  // never below one packet
}

TEST_CASE("losses halve once per window of data, a timeout leaves one packet and slow start follows") {
  Flow flow("dctcp", {{"initial_window", "40"}, {"initial_alpha", "0"}}, kFlow);
  flow.start();
  flow.ack(1000, 39'000, false);  // ends the empty window: the next one lasts 39 packets
  const auto grown = 40'000 + 1000 * 1000 / 40'000;
  REQUIRE(flow.lose(1000) == grown / 2);
  REQUIRE(flow.lose(1000) == grown / 2);
  REQUIRE(flow.time_out() == 1000);
  // Slow start: doubled per round trip, up to half of what it was at the timeout (20,012 / 2 = 10,006 B) …
  REQUIRE(flow.ack(1000, 0, false) == 2000);
  REQUIRE(flow.ack(2000, 0, false) == 4000);
  REQUIRE(flow.ack(4000, 0, false) == 8000);
  REQUIRE(flow.ack(8000, 0, false) == 16'000);
  // … then one packet per round trip.
  REQUIRE(flow.ack(16'000, 0, false) == 17'000);
}

TEST_CASE("impossible parameters are refused") {
  REQUIRE_THROWS_AS(Flow("dctcp", {{"gain", "0"}}, kFlow), InputError);
  REQUIRE_THROWS_AS(Flow("dctcp", {{"gain", "1.5"}}, kFlow), InputError);
  REQUIRE_THROWS_AS(Flow("dctcp", {{"initial_alpha", "-1"}}, kFlow), InputError);
  REQUIRE_THROWS_AS(Flow("dctcp", {{"initial_window", "-1"}}, kFlow), InputError);
}

}  // namespace
}  // namespace weft::congestion
