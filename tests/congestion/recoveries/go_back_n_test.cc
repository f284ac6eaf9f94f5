#include "congestion/recoveries/go_back_n.h"

#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("go-back-N: the receiver takes what is next, and tells once of each gap") {
  using enum Reassembly::Verdict;
  InOrderOnly receiver{GoBackN::Settings()};
  Arrivals arrivals;
  REQUIRE(receiver.on_packet(0, arrivals) == kTaken);
  REQUIRE(receiver.on_packet(2, arrivals) == kRefused);  // 1 is missing
  REQUIRE(receiver.on_packet(3, arrivals) == kIgnored);  // still that
  REQUIRE(receiver.on_packet(0, arrivals) == kDuplicate);
  REQUIRE(receiver.on_packet(1, arrivals) == kTaken);
  REQUIRE(receiver.on_packet(3, arrivals) == kRefused);  // another gap
  REQUIRE(arrivals.first_missing() == 2);
}

TEST_CASE("go-back-N: everything from the gap on is sent again, once for each NACK") {
  OneMessage<GoBackN> sender(20, go_back_n());
  REQUIRE(sender.send(8, Time()) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(sender.ack(Time::us(10), 0, 1, Time()).acked_packets == 1);
  // 1 was lost: 2 is refused.
  const auto outcome = sender.nack(Time::us(12), 2, 1, Time::us(2));
  REQUIRE(outcome.lost_packets == 7);
  REQUIRE(outcome.lost_bytes == 7 * kMtu);
  REQUIRE(sender.recovery.in_flight_packets() == 0);
  REQUIRE(sender.recovery.lost() == 7);
  REQUIRE(sender.send(3, Time::us(12)) == Numbers{1, 2, 3});
  // An answer to what was sent before that is about the same gap.
  REQUIRE(sender.nack(Time::us(14), 5, 1, Time::us(5)).lost_packets == 0);
  REQUIRE(sender.send(5, Time::us(15)) == Numbers{4, 5, 6, 7, 8});
  REQUIRE(sender.ack(Time::us(22), 1, 2, Time::us(12)).acked_packets == 1);
  REQUIRE(sender.recovery.first_unacked() == 2);
  REQUIRE(sender.signal == 1);
}

TEST_CASE("go-back-N: a timeout goes back too, and is doubled") {
  OneMessage<GoBackN> sender(20, go_back_n());
  sender.send(3, Time());
  Time now = sender.recovery.deadline();
  REQUIRE(now == Time::us(100));
  for (const std::int64_t next : {200, 400, 800, 1000, 1000}) {
    const auto outcome = sender.recovery.on_timer(now);
    REQUIRE(outcome.timeout);
    REQUIRE(outcome.lost_packets == 3);
    REQUIRE(sender.send(3, now) == Numbers{0, 1, 2});
    REQUIRE(sender.recovery.deadline() == now + Time::us(next));
    now = sender.recovery.deadline();
  }
}

TEST_CASE("go-back-0: a gap makes the message void, at both ends") {
  using enum Reassembly::Verdict;
  const std::map<std::string, std::string> whole = {{"restart", "message"}};
  const RecoveryKind kind = go_back_n();
  InOrderOnly receiver{GoBackN::Settings(Parameters(kind.info, whole))};
  Arrivals arrivals;
  receiver.append(4, 4000);
  receiver.append(2, 2000);
  OneMessage<GoBackN> sender(4, kind, whole);
  sender.recovery.append(2000);
  sender.send(6, Time());
  REQUIRE(receiver.on_packet(0, arrivals) == kTaken);
  REQUIRE(receiver.on_packet(1, arrivals) == kTaken);
  REQUIRE(arrivals.first_missing() == 0);  // nothing counts before the last
  REQUIRE(sender.ack(Time::us(10), 0, 0, Time()).acked_packets == 1);
  REQUIRE(sender.ack(Time::us(11), 1, 0, Time::us(1)).acked_packets == 1);
  REQUIRE(receiver.on_packet(3, arrivals) == kRefused);
  REQUIRE(sender.nack(Time::us(13), 3, 0, Time::us(3)).lost_packets == 4);
  REQUIRE(sender.send(6, Time::us(13)) == Numbers{0, 1, 2, 3, 4, 5});
  REQUIRE(receiver.on_packet(4, arrivals) == kIgnored);
  for (std::uint32_t n = 0; n < 4; ++n) REQUIRE(receiver.on_packet(n, arrivals) == kTaken);
  REQUIRE(arrivals.first_missing() == 4);
  // The second message begins behind what is there for good.
  REQUIRE(receiver.on_packet(5, arrivals) == kRefused);
  REQUIRE(sender.nack(Time::us(28), 5, 4, Time::us(18)).acked_packets == 4);
  REQUIRE(sender.send(2, Time::us(28)) == Numbers{4, 5});
  REQUIRE(sender.signal == 2);
}

TEST_CASE("go-back-N: what it goes back to is packet or message") {
  const RecoveryKind kind = go_back_n();
  REQUIRE_THROWS_WITH(GoBackN::Settings(Parameters(kind.info, {{"restart", "flow"}})),
                      Catch::Contains("it must be packet or message"));
}

}  // namespace
}  // namespace weft::congestion
