// Bolt's sender and supply matching, step by step, as telemetry tells of them.
#include "tests/congestion/controls/told_flow.h"

namespace weft::congestion {
namespace {

TEST_CASE("Bolt: its part of a queue goes in a round trip, a packet at a time") {
  ToldFlow flow("bolt", {{"supply_matching", "false"}});
  REQUIRE(flow.header_bytes() == 0);
  // A packet per round trip: sent at 0; then 5, no; then 10.
  REQUIRE(flow.told(10, 10, {hop(5, 999, 0)}) == 101'000);
  REQUIRE(flow.told(15, 10, {hop(10, 999, 0)}) == 101'000);
  REQUIRE(flow.told(20, 10, {hop(15, 999, 0)}) == 102'000);
  // 20 packets wait; 1.02 of the link's rate is the flow's: 20.4 are to go in 10 us. The last one went long
  // ago.
  REQUIRE(flow.told(21, 10, {hop(16, 20'000, 0)}) == 101'000);
  REQUIRE(flow.told(21.4, 10, {hop(17, 20'000, 0)}) == 101'000);  // one in 10 / 20.2 us
  REQUIRE(flow.told(21.5, 10, {hop(18, 20'000, 0)}) == 100'000);
  // The longest counts, wherever it is.
  REQUIRE(flow.told(21.7, 10, {hop(19, 3000, 0, 2), hop(19, 60'000, 0, 3)}) == 99'000);
  REQUIRE(flow.signal(0) == 1);
}

TEST_CASE("Bolt: its part of what ports could have sent and didn't") {
  ToldFlow flow("bolt");
  flow.told(10, 10, {hop(5, 0, 0, 1), hop(6, 0, 0, 2)});
  REQUIRE(flow.window() == 101'000);
  // In 5 us the first could have sent 50,000 and was given 40,000, of which a tenth were the flow's: 1,000.
  // The second was given 20,000 and has 30,000 to spare, of which a fifth is more.
  REQUIRE(flow.ack(15, 10, 4001, false, {hop(10, 0, 40'000, 1), hop(11, 0, 20'000, 2)}) == 102'000);
  // Half as much: not a packet yet; and again, though 900 bytes of it wait.
  REQUIRE(flow.ack(16, 10.9, 2000, false, {hop(15, 0, 80'000, 1), hop(16, 0, 40'000, 2)}) == 102'000);
  REQUIRE(flow.ack(17, 10, 2500, false, {hop(20, 900, 120'000, 1), hop(21, 0, 60'000, 2)}) == 103'000);
  REQUIRE(flow.lose(18, 3000) == 100'000);
  REQUIRE(flow.time_out(300, 1000) == 1000);
  REQUIRE_THROWS_AS(ToldFlow("bolt", {{"header_bytes", "-1"}}), InputError);
  REQUIRE_THROWS_AS(ToldFlow("bolt", {{"max_window", "0"}}), InputError);
}

}  // namespace
}  // namespace weft::congestion
