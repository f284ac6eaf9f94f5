#include "congestion/recoveries/sleek.h"

#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

using Numbers = std::vector<std::uint32_t>;

// max(min(1.5 W, 1.5 BDP), 5), the bandwidth-delay product being ten packets.
TEST_CASE("SLEEK: how many packets must have come out of order") {
  OneMessage<Sleek> sender(50, sleek());
  const std::pair<std::uint64_t, std::uint32_t> values[] = {{1, 5},  {3, 5},   {4, 6},
                                                            {8, 12}, {10, 15}, {100, 15}};
  for (const auto& [window, expected] : values) REQUIRE(sender.recovery.threshold(window * kMtu) == expected);
}

TEST_CASE("SLEEK: a recovery opens beyond the threshold, and closes when what was sent before has come") {
  OneMessage<Sleek> sender(60, sleek());
  sender.send(20, Time());
  // 0 and 3 are lost; window of 4 packets, so more than six must come beyond 0.
  std::uint32_t lost = 0, acks = 0;
  for (const std::uint32_t n : {1u, 2u, 4u, 5u, 6u, 7u}) {
    lost += sender.ack(Time::us(10 + n), n, 0, Time::us(n), 4).lost_packets;
    ++acks;
  }
  REQUIRE(acks == 6);
  REQUIRE(lost == 0);
  REQUIRE(sender.ack(Time::us(18), 8, 0, Time::us(8), 4).lost_packets == 2);
  REQUIRE(sender.recovery.recovering());
  REQUIRE(sender.send(3, Time::us(19)) == Numbers{0, 3, 20});
  // 10 is lost as well: below the highest that came it is sent again at once.
  REQUIRE(sender.ack(Time::us(20), 9, 0, Time::us(9), 4).lost_packets == 0);
  REQUIRE(sender.ack(Time::us(21), 11, 0, Time::us(11), 4).lost_packets == 1);
  REQUIRE(sender.send(1, Time::us(22)) == Numbers{10});
  for (std::uint32_t n = 12; n < 20; ++n) sender.ack(Time::us(10 + n), n, 0, Time::us(n), 4);
  sender.ack(Time::us(29), 0, 3, Time::us(19), 4);
  sender.ack(Time::us(30), 3, 10, Time::us(20), 4);
  REQUIRE(sender.recovery.recovering());
  sender.ack(Time::us(32), 10, 20, Time::us(22), 4);
  REQUIRE_FALSE(sender.recovery.recovering());
}

TEST_CASE("SLEEK: after three round trips of silence it probes, five times, before the timeout") {
  OneMessage<Sleek> sender(60, sleek(), {{"probes", "2"}});
  sender.send(2, Time());
  sender.ack(Time::us(10), 0, 1, Time());
  // SRTT 10 us.
  REQUIRE(sender.recovery.deadline() == Time::us(40));
  auto outcome = sender.recovery.on_timer(Time::us(40));
  REQUIRE(outcome.lost_packets == 1);
  REQUIRE_FALSE(outcome.timeout);
  REQUIRE(sender.send(1, Time::us(40)) == Numbers{1});
  REQUIRE(sender.recovery.deadline() == Time::us(70));
  REQUIRE(sender.recovery.on_timer(Time::us(70)).lost_packets == 1);
  REQUIRE(sender.send(1, Time::us(70)) == Numbers{1});
  REQUIRE(sender.signal == 2);
  REQUIRE(sender.recovery.deadline() == Time::us(170));
  REQUIRE(sender.recovery.on_timer(Time::us(170)).timeout);
  REQUIRE(sender.send(1, Time::us(170)) == Numbers{1});
  // An answer allows for probes again.
  sender.ack(Time::us(180), 1, 2, Time::us(170));
  sender.send(1, Time::us(180));
  REQUIRE(sender.recovery.deadline() < Time::us(280));
}

TEST_CASE("SLEEK: parameters out of range") {
  const RecoveryKind kind = sleek();
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"windows", "0"}, {"least", "0"}, {"most", "0"}, {"probe_rtts", "0.5"}, {"probes", "-1"}}) {
    REQUIRE_THROWS_AS(Sleek::Settings(Parameters(kind.info, {{name, value}})), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion
