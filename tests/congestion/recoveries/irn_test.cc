#include "congestion/recoveries/irn.h"

#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

using Numbers = std::vector<std::uint32_t>;

// §3.1: the expected packet and those below the highest selectively acknowledged one, each once; until what
// was sent before the recovery is acknowledged.
TEST_CASE("IRN: a recovery from its first NACK to its last retransmission") {
  OneMessage<Irn> sender(50, irn(), {{"window", "30"}});
  sender.send(10, Time());
  sender.ack(Time::us(10), 0, 1, Time());
  // 1, 2 and 6 are lost. 3 comes out of order: a NACK, expected 1.
  REQUIRE(sender.ack(Time::us(13), 3, 1, Time::us(3)).lost_packets == 2);
  REQUIRE(sender.recovery.recovering());
  REQUIRE(sender.send(3, Time::us(13)) == Numbers{1, 2, 10});
  REQUIRE(sender.ack(Time::us(14), 4, 1, Time::us(4)).lost_packets == 0);  // 1 and 2 were sent again
  REQUIRE(sender.ack(Time::us(15), 5, 1, Time::us(5)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(17), 7, 1, Time::us(7)).lost_packets == 1);  // 6
  REQUIRE(sender.send(2, Time::us(17)) == Numbers{6, 11});
  for (const std::uint32_t n : {8u, 9u}) sender.ack(Time::us(10 + n), n, 1, Time::us(n));
  REQUIRE(sender.ack(Time::us(23), 1, 2, Time::us(13)).lost_packets == 0);
  // 10 was sent after the recovery began; 2, still missing, was sent again and isn't yet lost again.
  REQUIRE(sender.ack(Time::us(25), 10, 2, Time::us(15)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(26), 2, 6, Time::us(14)).lost_packets == 0);
  REQUIRE(sender.recovery.recovering());  // 6
  sender.ack(Time::us(27), 6, 11, Time::us(17));
  REQUIRE_FALSE(sender.recovery.recovering());
}

TEST_CASE("IRN: the window is a bandwidth-delay product, or as given") {
  REQUIRE(OneMessage<Irn>(9, irn()).recovery.most_span() == 10);  // 10 us at a packet each
  REQUIRE(OneMessage<Irn>(9, irn(), {{"window", "7"}}).recovery.most_span() == 7);
}

TEST_CASE("IRN: the timeout is short while no more than three packets are in flight") {
  OneMessage<Irn> sender(50, irn());
  sender.send(3, Time());
  REQUIRE(sender.recovery.deadline() == Time::us(100));
  sender.send(1, Time::us(3));
  REQUIRE(sender.recovery.deadline() == Time::us(320));
  REQUIRE_FALSE(sender.recovery.on_timer(Time::us(319)).timeout);
  REQUIRE(sender.recovery.on_timer(Time::us(320)).lost_packets == 4);
  REQUIRE(sender.send(4, Time::us(320)) == Numbers{0, 1, 2, 3});
  REQUIRE(sender.recovery.deadline() == Time::us(320 + 640));
  // In the recovery of the timeout nothing is lost a second time for being out of order.
  REQUIRE(sender.ack(Time::us(331), 1, 0, Time::us(321)).lost_packets == 0);
  REQUIRE(sender.recovery.deadline() == Time::us(331 + 100));
}

TEST_CASE("IRN: over several paths a packet may be overtaken by a path's worth of others") {
  OneMessage<Irn> sender(50, irn(), {}, true);
  sender.send(20, Time());
  for (std::uint32_t n = 1; n < 10; ++n)
    REQUIRE(sender.ack(Time::us(10 + n), n, 0, Time::us(n)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(20), 10, 0, Time::us(10)).lost_packets == 1);
}

TEST_CASE("IRN: parameters out of range") {
  const RecoveryKind kind = irn();
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"window", "0"}, {"few", "-1"}, {"timeout_low", "0us"}, {"timeout_high", "0us"}}) {
    REQUIRE_THROWS_AS(Irn::Settings(Parameters(kind.info, {{name, value}})), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion
