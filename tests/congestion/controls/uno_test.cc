// Uno's epochs and jumps, step by step.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("Uno: by the average share of marks, once per epoch; less where round trips show no queue") {
  // K = 100,000 / 7, so 4 K / (100,000 + K) = 0.5; the window grows by 100 bytes in a round trip.
  ToldFlow flow("uno", {{"epoch", "10us"}});
  REQUIRE(flow.window() == 100'000);
  double window = flow.lose(1, 50'000);
  REQUIRE(window == 50'000);
  window += 100 * 1000 / window;
  REQUIRE(flow.ack(10, 10, 1000) == bytes(window));  // ends the epoch before the first
  REQUIRE(flow.ack(15, 10, 1000, true) == bytes(window));
  window += 100 * 3000 / window;
  REQUIRE(flow.ack(19.9, 10, 3000) == bytes(window));
  // The first sent at 10 or later. One of five bytes was marked: average 0.65 × 0.2, without a queue.
  double average = 0.65 * 0.2;
  window += 100 * 1000 / window;
  window *= 1 - average * 0.5 * 0.35;
  REQUIRE(flow.ack(20, 10, 1000) == bytes(window));
  REQUIRE(flow.rate_bps() == Approx(window * 8 / 10e-6));
  // All marked, and 12 us: a queue.
  average += 0.65 * (1 - average);
  window *= 1 - average * 0.5;
  REQUIRE(flow.ack(32, 12, 1000, true) == bytes(window));
  // A quarter marked: the average falls, so it grows instead, by what the epoch brought.
  window += 100 * 3000 / window;
  window += 100 * 4000 / window;
  REQUIRE(flow.ack(41, 12, 1000, true) < window);
  REQUIRE(flow.ack(42, 12, 3000) == bytes(window));
}

TEST_CASE(
    "Uno: K and epoch are the same for all, so a flow with a longer way gives as much in its round trip") {
  // Epochs of a tenth of the flow's round trip, and 4 K / (100,000 + K) for each that is all marked.
  ToldFlow flow("uno", {{"epoch", "1us"}, {"threshold", "5kB"}});
  flow.lose(1, 50'000);
  flow.ack(10, 10, 1000);
  double window = flow.window();
  const double each = 1 - 0.65 * 4 * 5000 / 105'000 * 0.35;
  REQUIRE(flow.ack(11, 10, 1000, true) == Approx(window * each).margin(3));
}

TEST_CASE("Uno: much less than a window in a round trip makes it the window") {
  ToldFlow flow("uno", {{"epoch", "10us"}});
  flow.ack(10, 10, 1000, false, {}, 99'000);  // it begins to count
  for (int i = 1; i < 10; ++i) flow.ack(10 + i, 11, 4000, false, {}, 99'000);
  REQUIRE(flow.window() == 100'000);
  REQUIRE(flow.ack(20, 11, 4000, false, {}, 99'000) == bytes(0.96 * 40'000));
  // Packets sent before that don't count, marked or not.
  const double window = flow.window();
  REQUIRE(flow.ack(25, 12, 1000, true) == bytes(window));
  REQUIRE(flow.ack(31, 12, 1000, true) == bytes(window));
  // A sender that had nothing to send isn't measured by what it has sent.
  ToldFlow idle("uno");
  for (int i = 0; i < 5; ++i) idle.ack(10 + 5 * i, 10, 1000, false, {}, 0);
  REQUIRE(idle.window() == 100'000);
  REQUIRE(idle.time_out(500, 1000) == 99'000);
  REQUIRE_THROWS_AS(ToldFlow("uno", {{"epoch", "0us"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("uno", {{"mark_gain", "2"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("uno", {{"phantom_delay", "0.5"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
