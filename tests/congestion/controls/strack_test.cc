// STrack's window, step by step.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("STrack: up to a target round trip, down once per round trip, and down to what comes through") {
  // Target 10 + 5 us; alpha = 0.25 packets for each microsecond, one packet in any round trip.
  ToldFlow flow("strack");
  double window = 100'000;
  REQUIRE(flow.window() == window);
  window += 1e6 / window;
  window += 0.25 * 4 * 1e6 / window;
  REQUIRE(flow.ack(11, 11, 1000) == bytes(window));
  window += 1e6 / window;
  window *= 1 - 0.8 * 5 / 20;
  REQUIRE(flow.ack(30, 20, 1000) == bytes(window));
  window += 1e6 / window;  // sent at 15, before that
  REQUIRE(flow.ack(35, 20, 1000) == bytes(window));
  // More than twice the target: 21,000 bytes came in 50 us since 30, so 4,200 in a round trip.
  REQUIRE(flow.ack(80, 40, 20'000) == bytes(4200));
}

TEST_CASE("STrack: no more than half at once, where nothing better is known") {
  ToldFlow flow("strack", {{"base_target", "6us"}, {"hop_target", "1us"}, {"fair_increase", "0"}});
  REQUIRE(flow.ack(14, 15.9, 1000) == bytes(100'000));                     // sent before the start
  REQUIRE(flow.ack(15, 15, 1000) == bytes(100'000 * (1 - 0.8 * 7 / 15)));  // target 6 + 2 × 1 us
  const double before = flow.window();
  REQUIRE(flow.lose(20, 1000) == before);  // a round trip has not passed
  REQUIRE(flow.lose(26, 1000) == bytes(before / 2));
  REQUIRE(flow.time_out(300, 1000) == 1000);
  REQUIRE_THROWS_AS(ToldFlow("strack", {{"increase", "0"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("strack", {{"decrease", "1.1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("strack", {{"base_target", "0us"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
