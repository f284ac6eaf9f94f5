#include "congestion/recoveries/selective_repeat.h"

#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Selective = OneMessage<SelectiveRepeat>;

TEST_CASE("selective repeat: a packet is lost when one sent three later has come") {
  Selective sender(50, selective_repeat());
  sender.send(10, Time());
  sender.ack(Time::us(10), 0, 1, Time());
  // 1 doesn't come. RFC 6675: three of higher number.
  REQUIRE(sender.ack(Time::us(12), 2, 1, Time::us(2)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(13), 3, 1, Time::us(3)).lost_packets == 0);
  const auto outcome = sender.ack(Time::us(14), 4, 1, Time::us(4));
  REQUIRE(outcome.lost_packets == 1);
  REQUIRE(outcome.lost_bytes == kMtu);
  REQUIRE(sender.send(4, Time::us(14)) == Numbers{1, 10, 11, 12});
  for (std::uint32_t n = 5; n < 10; ++n) sender.ack(Time::us(10 + n), n, 1, Time::us(n));
  // The second copy of 1 was sent before 10, 11 and 12: it is missed as any other.
  REQUIRE(sender.ack(Time::us(25), 10, 1, Time::us(15)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(26), 11, 1, Time::us(16)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(27), 12, 1, Time::us(17)).lost_packets == 1);
  REQUIRE(sender.recovery.next_to_send() == 1);
}

TEST_CASE("selective repeat: a first copy that is late says nothing of the second") {
  Selective sender(50, selective_repeat());
  sender.send(10, Time());
  sender.ack(Time::us(14), 4, 0, Time::us(4));  // 0 and 1 are given up
  REQUIRE(sender.recovery.lost() == 2);
  REQUIRE(sender.send(2, Time::us(14)) == Numbers{0, 1});
  // The first copies come after all. The second's turns aren't over, so 5 … 9 aren't overtaken by them.
  REQUIRE(sender.ack(Time::us(15), 0, 1, Time()).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(15), 1, 5, Time::us(1)).lost_packets == 0);
  REQUIRE(sender.recovery.first_unacked() == 5);
  REQUIRE(sender.recovery.in_flight_packets() == 5);
}

TEST_CASE("selective repeat: where packets take several paths, a path's worth of them must have come") {
  Selective sender(50, selective_repeat(), {}, true);
  REQUIRE(sender.recovery.duplicates() == 10);  // 10 us at a packet each
  sender.send(20, Time());
  REQUIRE(sender.ack(Time::us(19), 9, 0, Time::us(9)).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(20), 10, 0, Time::us(10)).lost_packets == 1);
}

TEST_CASE("selective repeat by path: only packets of the same path are compared") {
  Selective sender(50, selective_repeat(), {{"per_path", "true"}, {"duplicates", "1"}}, true);
  for (std::uint32_t n = 0; n < 12; ++n) {  // paths 70, 71, 72 in turn
    sender.recovery.on_path(70 + n % 3);
    sender.recovery.on_send(n, Time::us(n));
  }
  // Path 71 is fast, 70 slow: 1, 4, 7 and 10 come before anything else, and nothing is lost.
  for (const std::uint32_t n : {1u, 4u, 7u, 10u})
    REQUIRE(sender.ack(Time::us(12 + n), n, 0, Time::us(n)).lost_packets == 0);
  // On path 72, 5 comes and 2 doesn't.
  REQUIRE(sender.ack(Time::us(23), 5, 0, Time::us(5)).lost_packets == 1);
  REQUIRE(sender.recovery.next_to_send() == 2);
  // Sent again over path 70, it is compared with that path's.
  sender.recovery.on_path(70);
  sender.recovery.on_send(2, Time::us(24));
  REQUIRE(sender.ack(Time::us(30), 11, 0, Time::us(11)).lost_packets == 1);  // 8, on path 72
  REQUIRE(sender.ack(Time::us(31), 0, 2, Time()).lost_packets == 0);
  // Packets 3, 6 and 9 were sent over path 70 before packet 2 was sent again.
  REQUIRE(sender.ack(Time::us(40), 2, 3, Time::us(24)).lost_packets == 3);
}

TEST_CASE("selective repeat by timeout only: gaps say nothing") {
  Selective sender(50, selective_repeat(), {{"detection", "timeout"}});
  sender.send(20, Time());
  for (std::uint32_t n = 1; n < 20; ++n)
    REQUIRE(sender.ack(Time::us(10 + n), n, 0, Time::us(n)).lost_packets == 0);
  REQUIRE(sender.recovery.deadline() == Time::us(29 + 100));
  REQUIRE(sender.recovery.on_timer(Time::us(129)).lost_packets == 1);
}

TEST_CASE("selective repeat: parameters out of range") {
  const RecoveryKind kind = selective_repeat();
  REQUIRE_THROWS_AS(SelectiveRepeat::Settings(Parameters(kind.info, {{"duplicates", "0"}})), InputError);
  REQUIRE_THROWS_AS(SelectiveRepeat::Settings(Parameters(kind.info, {{"detection", "guess"}})), InputError);
}

}  // namespace
}  // namespace weft::congestion
