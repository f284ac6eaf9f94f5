// PowerTCP's algorithms 1 and 2, step by step.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("PowerTCP: the window of a round trip ago over power, and beta") {
  // gamma = 0.9, beta = 100,000 / 10.
  ToldFlow flow("powertcp");
  REQUIRE(flow.header_bytes() == 42);
  REQUIRE(flow.told(10, 10, {hop(5, 0, 0)}) == 100'000);
  // In 10 us 100,000 bytes have left and 20,000 more wait: current 1.2 b, voltage 1.2 b tau, power 1.44.
  const double first = 0.9 * (100'000 / 1.44 + 10'000) + 0.1 * 100'000;
  REQUIRE(flow.told(20, 10, {hop(15, 20'000, 100'000)}) == bytes(first));
  REQUIRE(flow.rate_bps() == Approx(first * 8 / 10e-6));
  // In 5 us more the queue stays: 1.2; smoothed 0.5 × 1.44 + 0.5 × 1.2. Sent at 15, before the change at 20:
  // the old window is still that of 20.
  const double second = 0.9 * (first / 1.32 + 10'000) + 0.1 * first;
  REQUIRE(flow.told(25, 10, {hop(20, 20'000, 150'000)}) == bytes(second));
  // In another 5 us the queue has gone, so 30,000 came: current 0.6 b, power 0.6; smoothed 0.96. The old
  // window is that of 20 for this ACK too, and this one's from then on.
  const double third = std::min(100'000.0, 0.9 * (first / 0.96 + 10'000) + 0.1 * second);
  REQUIRE(flow.told(30, 10, {hop(25, 0, 200'000)}) == bytes(third));
  const double fourth = 0.9 * (third / 1.2 + 10'000) + 0.1 * third;
  REQUIRE(flow.told(41, 11, {hop(35, 20'000, 280'000)}) == bytes(fourth));  // (80 + 20) / 100 × 1.2
  // Another way.
  REQUIRE(flow.told(42, 11, {hop(36, 0, 0, 7)}) == bytes(fourth));
  REQUIRE(flow.signal(0) == 1);
}

TEST_CASE("theta-PowerTCP: by round trips and their slope, once per round trip") {
  ToldFlow flow("powertcp", {{"signal", "delay"}});
  REQUIRE(flow.header_bytes() == 0);
  REQUIRE(flow.ack(10, 10, 1000) == 100'000);  // nothing to compare with
  REQUIRE(flow.ack(15, 12, 1000) == 100'000);  // sent at 3
  // Sent at 10; 2 us longer than 12 us ago: (1 + 1/6) × 12 / 10 = 1.4.
  const double first = 0.9 * (100'000 / 1.4 + 10'000) + 0.1 * 100'000;
  REQUIRE(flow.ack(22, 12, 1000) == bytes(first));
  REQUIRE(flow.rate_bps() == Approx(first * 8 / 10e-6));
  REQUIRE(flow.ack(30, 12, 1000) == bytes(first));  // sent at 18
  // Sent at 22, 11.5 us after the last look, and half a microsecond shorter: (1 - 1/23) × 11.5 / 10 = 1.1.
  REQUIRE(flow.ack(33.5, 11.5, 1000) == bytes(0.9 * (first / 1.1 + 10'000) + 0.1 * first));
}

TEST_CASE("PowerTCP: a timeout leaves a packet, and what makes no sense is refused") {
  ToldFlow flow("powertcp");
  REQUIRE(flow.lose(1, 1000) == 100'000);
  REQUIRE(flow.time_out(2, 1000) == 1000);
  REQUIRE_THROWS_AS(ToldFlow("powertcp", {{"signal", "marks"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("powertcp", {{"gain", "0"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("powertcp", {{"flows", "-1"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
