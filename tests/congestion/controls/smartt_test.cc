// SMaRTT's four cases, fast increase and quick adapt, step by step.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("SMaRTT: four cases of mark and round trip") {
  // Target 15 us; x = 0.15, y = 1, z = 0.5, w = 1.
  ToldFlow flow("smartt", {{"fair_decrease", "0.5"}});
  REQUIRE(flow.window() == 125'000);
  double window = 100'000;
  REQUIRE(flow.lose(0.5, 25'000) == window);
  // No mark, below the target: in proportion, (15 - 12) / 12 × 1000 × 1000 / W, and fair, 0.15 of the same.
  window += (0.25 + 0.15) * 1e6 / window;
  REQUIRE(flow.ack(1, 12, 1000) == bytes(window));
  // Marks: their average is 1/8 and 15/64, below 0.3, so they wait; the third makes it 0.33.
  REQUIRE(flow.ack(2, 12, 1000, true) == bytes(window));
  REQUIRE(flow.ack(3, 12, 1000, true) == bytes(window));
  window -= 0.5 * 1000 * window / 100'000;  // below the target: fair
  REQUIRE(flow.ack(4, 12, 1000, true) == bytes(window));
  window -= 5.0 / 20 * 1000 + 0.5 * 1000 * window / 100'000;  // above: in proportion, too
  REQUIRE(flow.ack(5, 20, 1000, true) == bytes(window));
  window -= 1000;  // 40 / 55 × 1000 + about 500: no more than a packet
  REQUIRE(flow.ack(6, 55, 1000, true) == bytes(window));
  window += 0.15 * 1e6 / window;  // no mark, above the target
  REQUIRE(flow.ack(7, 20, 1000) == bytes(window));
  // For several packets, as many times.
  window += 3 * 0.15 * 1e6 / window;
  REQUIRE(flow.ack(8, 20, 3000) == bytes(window));
}

TEST_CASE("SMaRTT: after a loss the window is what was acknowledged in a target round trip") {
  ToldFlow flow("smartt");
  flow.lose(1, 1000);
  for (int i = 0; i < 6; ++i) flow.ack(2 + i, 20, 1000);
  REQUIRE(flow.window() > 120'000);
  REQUIRE(flow.ack(15, 20, 1000, false, {}, 3000) == 7000);
  // What was in flight says nothing more; then it goes on.
  for (int i = 0; i < 3; ++i) REQUIRE(flow.ack(16 + i, 20, 1000, true) == 7000);
  REQUIRE(flow.ack(19, 20, 1000) == bytes(7000 + 0.15 * 1e6 / 7000));
  REQUIRE(flow.time_out(500, 1000) == 1000);
}

TEST_CASE("SMaRTT: a whole window without a queue makes it grow by two packets for each") {
  ToldFlow flow("smartt");
  double window = flow.lose(0.5, 45'000);
  REQUIRE(window == 80'000);
  window += (0.5 + 0.15) * 1e6 / window * 80;  // all of it at once
  REQUIRE(flow.ack(1, 10, 80'000) == bytes(window));
  REQUIRE(flow.ack(2, 10.1, 1000) == bytes(window + 2000));
  REQUIRE(flow.ack(3, 10.1, 1000) == bytes(window + 4000));
  window += 4000;
  REQUIRE(flow.ack(4, 10.1, 1000, true) == bytes(window));  // a mark ends it
  window += ((15 - 10.0) / 10.0 + 0.15) * 1e6 / window;
  REQUIRE(flow.ack(5, 10, 1000) == bytes(window));
  REQUIRE_THROWS_AS(ToldFlow("smartt", {{"target", "1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("smartt", {{"mark_gain", "0"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("smartt", {{"fair_increase", "-1"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
