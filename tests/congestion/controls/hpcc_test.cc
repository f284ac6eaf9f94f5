// HPCC's algorithm 1, step by step.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("HPCC: the window by the fullest link, from a reference that changes once per round trip") {
  // eta = 0.95, W_AI = 100,000 × 0.05 / 10 = 500; two round trips of additive increase at most.
  ToldFlow flow("hpcc", {{"max_stage", "2"}});
  REQUIRE(flow.header_bytes() == 42);
  REQUIRE(flow.window() == 100'000);
  REQUIRE(flow.rate_bps() == Approx(80e9));
  // Nothing to compare with.
  REQUIRE(flow.told(10, 10, {hop(5, 0, 0, 4), hop(6, 0, 0, 8)}) == 100'000);
  // One link was half full, the other full; it had no queue at one end of that: u = 1.
  double reference = 100'000 / (1 / 0.95) + 500;
  REQUIRE(flow.told(20, 10, {hop(15, 0, 50'000, 4), hop(16, 20'000, 100'000, 8)}) == bytes(reference));
  REQUIRE(flow.rate_bps() == Approx(reference * 8 / 10e-6));
  // Half a round trip later, full with at least 20,000 waiting: u = 1 + 0.2, U = 0.5 × 1 + 0.5 × 1.2. The
  // packet was sent at 15, before the change at 20.
  REQUIRE(flow.told(25, 10, {hop(20, 0, 75'000, 4), hop(21, 40'000, 150'000, 8)}) ==
          bytes(reference / (1.1 / 0.95) + 500));
  // A fifth full, sent at 20: U = 0.5 × 1.1 + 0.5 × 0.2 = 0.65, so additive, and the new reference.
  reference += 500;
  REQUIRE(flow.told(31, 11, {hop(25, 0, 80'000, 4), hop(26, 0, 160'000, 8)}) == bytes(reference));
  reference += 500;
  REQUIRE(flow.told(42, 11, {hop(35, 0, 90'000, 4), hop(36, 0, 180'000, 8)}) == bytes(reference));
  // Twice is enough: now by U = 0.9, though it is below the target.
  reference = reference / (0.9 / 0.95) + 500;
  REQUIRE(reference < 105'000);
  REQUIRE(flow.told(53, 11, {hop(45, 0, 100'000, 4), hop(46, 0, 270'000, 8)}) ==
          bytes(std::min(reference, 100'000.0)));
  // Another way: as it was.
  const double before = flow.window();
  REQUIRE(flow.told(60, 11, {hop(50, 0, 0, 4), hop(51, 0, 0, 9)}) == before);
  REQUIRE(flow.signal(0) == 1);
}

TEST_CASE("HPCC: never faster than the line, never slower than told; losses tell it nothing, timeouts much") {
  ToldFlow flow("hpcc", {{"min_rate", "800Mbps"}});  // 1,000 bytes in 10 us
  REQUIRE(flow.lose(5, 1000) == 100'000);
  flow.told(10, 10, {hop(5, 100'000'000, 0)});
  REQUIRE(flow.told(20, 10, {hop(15, 100'000'000, 100'000)}) == bytes(1000));  // U = 1,001
  REQUIRE(flow.told(30, 10, {hop(25, 0, 100'100)}) == bytes(1500));            // U = 0.001
  REQUIRE(flow.time_out(2000, 1000) == bytes(1000));
  REQUIRE(flow.rate_bps() == Approx(800e6));
  REQUIRE_THROWS_AS(ToldFlow("hpcc", {{"target", "1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("hpcc", {{"flows", "0"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("hpcc", {{"max_stage", "-1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("hpcc", {{"telemetry_bytes", "-1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("hpcc", {{"base_rtt", "0us"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
