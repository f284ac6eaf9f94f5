// MP-RDMA's window against its paper: +1/W for each unmarked ACK, -1/2 for each marked one.
#include "sim/units/random.h"
#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

constexpr FlowInfo kFlow{
    .mtu_bytes = 1000, .line_rate = Bandwidth::gbps(80), .base_rtt = Time::us(10), .bdp_bytes = 100'000};

TEST_CASE("MP-RDMA: ACK by ACK, in packets") {
  DrivenSender flow("mprdma", {{"initial_window", "10"}}, kFlow);
  flow->start(Time());
  REQUIRE(flow.window() == 10'000);
  double packets = 10;
  RandomStream random(1, 4);
  for (int i = 0; i < 2000; ++i) {
    const bool marked = random.below(5) == 0;
    packets = std::max(1.0, marked ? packets - 0.5 : packets + 1 / packets);
    flow->on_ack({.bytes = 1000, .in_flight = 1'000'000, .ecn_marked = marked});
    REQUIRE(flow.window() == near(packets * 1000));
  }
  // Halfway between: 1/W up in 4 of 5 ACKs, 1/2 down in one, so W is around 8.
  REQUIRE(packets > 3);
  REQUIRE(packets < 20);
}

TEST_CASE("MP-RDMA: starts with the bandwidth-delay product, rests unless in use, and keeps a packet") {
  DrivenSender flow("mprdma", {}, kFlow);
  flow->start(Time());
  REQUIRE(flow.window() == 100'000);
  flow->on_ack({.bytes = 1000, .in_flight = 50'000});
  REQUIRE(flow.window() == 100'000);
  flow->on_ack({.bytes = 4000, .in_flight = 95'000, .ecn_marked = true});  // four packets at once
  REQUIRE(flow.window() == 98'000);
  flow->on_loss({.bytes = 2000});
  REQUIRE(flow.window() == 97'000);
  flow->on_timeout({.bytes = 97'000});
  REQUIRE(flow.window() == 1000);
  flow->on_ack({.bytes = 1000, .in_flight = 0, .ecn_marked = true});
  REQUIRE(flow.window() == 1000);
  flow->on_ack({.bytes = 1000, .in_flight = 0});
  REQUIRE(flow.window() == 2000);
}

TEST_CASE("MP-RDMA: impossible parameters are refused") {
  for (const char* name : {"increase", "decrease"}) {
    REQUIRE_THROWS_AS(DrivenSender("mprdma", {{name, "0"}}, kFlow), InputError);
  }
  REQUIRE_THROWS_AS(DrivenSender("mprdma", {{"initial_window", "-1"}}, kFlow), InputError);
}

}  // namespace
}  // namespace weft::congestion
