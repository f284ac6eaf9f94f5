#include "congestion/recoveries/trim_nack.h"

#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

TEST_CASE("trim_nack: what a NACK names is sent again, gaps say nothing, the timeout is for the rest") {
  OneMessage<TrimNack> sender(40, trim_nack());
  sender.send(30, Time());
  for (std::uint32_t n = 2; n < 30; ++n)  // 0 is lost with its header, 1 is trimmed
    REQUIRE(sender.ack(Time::us(10 + n), n, 0, Time::us(n)).lost_packets == 0);
  REQUIRE(sender.recovery.lost() == 0);
  REQUIRE(sender.nack(Time::us(40), 1, 0, Time::us(1)).lost_packets == 1);
  REQUIRE(sender.recovery.next_to_send() == 1);
  REQUIRE(sender.nack(Time::us(40), 1, 0, Time::us(1)).lost_packets == 0);
  sender.send(1, Time::us(40));
  REQUIRE(sender.ack(Time::us(50), 1, 0, Time::us(40)).acked_packets == 1);
  REQUIRE(sender.recovery.in_flight_packets() == 1);
  // It was sent at 0; that others arrive says nothing of it.
  REQUIRE(sender.recovery.deadline() == Time::us(100));
  REQUIRE(sender.recovery.on_timer(Time::us(100)).lost_packets == 1);
  REQUIRE(sender.recovery.next_to_send() == 0);
}

TEST_CASE("trim_nack: each packet has a timeout of its own, whatever becomes of the others") {
  OneMessage<TrimNack> sender(400, trim_nack());
  sender.send(1, Time());  // lost
  std::uint32_t lost = 0;
  Time timeout_at = Time::max();
  for (std::uint32_t n = 1; n <= 150 && lost == 0; ++n) {
    sender.send(1, Time::us(n));
    if (n > 10) sender.ack(Time::us(n), n - 10, 0, Time::us(n - 10));
    if (sender.recovery.deadline() > Time::us(n)) continue;
    lost = sender.recovery.on_timer(Time::us(n)).lost_packets;
    if (lost > 0) timeout_at = Time::us(n);
  }
  REQUIRE(lost == 1);  // not those that are under way
  REQUIRE(timeout_at == Time::us(100));
  REQUIRE(sender.recovery.next_to_send() == 0);
  // Sent again, it has all of its time once more, twice as long after the first timeout.
  sender.send(1, Time::us(101));
  REQUIRE(sender.recovery.on_timer(Time::us(199)).lost_packets == 0);
}

TEST_CASE("trim_nack can't do without trimming") {
  REQUIRE(trim_nack().needs.required.has(Capability::kTrim));
}

}  // namespace
}  // namespace weft::congestion
