#include "congestion/recoveries/erasure_coding.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/congestion/recoveries/one_message.h"

namespace weft::congestion {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Coded = OneMessage<ErasureCoding>;

std::map<std::string, std::string> code(const std::string& data, const std::string& redundant,
                                        const std::string& name = "mds") {
  return {{"data", data}, {"redundant", redundant}, {"code", name}};
}

TEST_CASE("erasure coding: packets of a message, and how long they are") {
  Coded sender(1, erasure_coding(), code("4", "2"));
  ErasureCoding& recovery = sender.recovery;
  REQUIRE(recovery.packets() == 2);  // one packet, and once more
  // 10.3 packets: 4 + 2, 4 + 2, 3 + 2.
  REQUIRE(recovery.packets_for(10'300) == 17);
  recovery.append(10'300);
  REQUIRE(recovery.packets() == 19);
  for (std::uint32_t n = 2; n < 19; ++n) REQUIRE(recovery.payload(n) == (n == 2 + 14 ? 300 : 1000));
  // 8.3 packets: the last block has one, of 300 bytes, and that once more.
  recovery.append(8'300);
  REQUIRE(recovery.packets() == 19 + 14);
  REQUIRE(recovery.payload(19 + 11) == 1000);
  REQUIRE(recovery.payload(19 + 12) == 300);
  REQUIRE(recovery.payload(19 + 13) == 300);
  REQUIRE(recovery.packets_for(0) == 2);
}

TEST_CASE("erasure coding: the payload of a message is that of its packets") {
  for (const std::uint64_t bytes :
       {0u, 1u, 999u, 1000u, 1001u, 3999u, 4000u, 4001u, 8300u, 10'300u, 80'000u}) {
    Coded sender(1, erasure_coding(), code("4", "2"));
    const std::uint32_t first = sender.recovery.packets();
    const std::uint64_t told = sender.recovery.payload_for(bytes);
    sender.recovery.append(bytes);
    std::uint64_t sum = 0;
    for (std::uint32_t n = first; n < sender.recovery.packets(); ++n) sum += sender.recovery.payload(n);
    INFO(bytes);
    REQUIRE(told == sum);
  }
}

TEST_CASE("erasure coding: what is rebuilt before it was sent is spared, once") {
  Coded sender(8, erasure_coding(), code("4", "2"));
  sender.send(4, Time());
  // All four of the first block are there before its two redundant packets have left.
  REQUIRE(sender.ack(Time::us(12), 2, 3, Time::us(2)).spared_bytes == 0);
  REQUIRE(sender.ack(Time::us(13), 3, 6, Time::us(3)).spared_bytes == 2 * kMtu);
  REQUIRE(sender.ack(Time::us(14), 3, 6, Time::us(3)).spared_bytes == 0);
  REQUIRE(sender.recovery.next_new() == 6);
}

TEST_CASE("erasure coding: blocks are laid out as they are counted") {
  for (std::uint32_t data = 1; data <= 9; ++data) {
    for (std::uint32_t redundant = 1; redundant <= data; ++redundant) {
      const ErasureCode shape{.data = data, .redundant = redundant};
      for (std::uint32_t carrying = 1; carrying <= 40; ++carrying) {
        const auto packets = static_cast<std::uint32_t>(shape.packets_for(carrying));
        std::uint32_t sum = 0;
        for (std::uint32_t n = 0; n < packets;) {
          const auto block = shape.block_of(0, packets, n);
          REQUIRE(block.first == n);
          REQUIRE(block.data == std::min(data, carrying - sum));
          REQUIRE(block.redundant == std::min(redundant, block.data));
          sum += block.data;
          n = block.end();
        }
        REQUIRE(sum == carrying);
      }
    }
  }
}

TEST_CASE("erasure coding: so many losses as there are redundant packets cost nothing") {
  Coded sender(8, erasure_coding(), code("4", "2"));
  sender.send(12, Time());
  // 1 and 5 are lost.
  sender.ack(Time::us(10), 0, 1, Time());
  sender.ack(Time::us(12), 2, 1, Time::us(2));
  REQUIRE(sender.recovery.first_unacked() == 1);
  sender.ack(Time::us(13), 3, 1, Time::us(3));
  // The fourth of the block gives the rest, for the receiver as for the sender.
  const auto outcome = sender.ack(Time::us(14), 4, 6, Time::us(4));
  REQUIRE(outcome.acked_packets == 3);
  REQUIRE(sender.recovery.first_unacked() == 6);
  REQUIRE(sender.recovery.lost() == 0);
  REQUIRE(sender.signal == 0);
}

TEST_CASE("erasure coding: more losses, and the missing data packets are sent again when that is known") {
  Coded sender(12, erasure_coding(), code("4", "2"));
  sender.send(18, Time());
  // 0, 2 and 5 are lost, of which 5 is redundant. By the count of three, 0 is when 3 has come, 2 when 6 has.
  sender.ack(Time::us(11), 1, 0, Time::us(1));
  sender.ack(Time::us(13), 3, 0, Time::us(3));
  // Without 0 the block could still be rebuilt.
  REQUIRE(sender.recovery.lost() == 0);
  REQUIRE(sender.recovery.in_flight_packets() == 18 - 2 - 1);
  sender.ack(Time::us(14), 4, 0, Time::us(4));
  sender.ack(Time::us(16), 6, 0, Time::us(6));
  REQUIRE(sender.recovery.lost() == 0);
  REQUIRE(sender.recovery.in_flight_packets() == 18 - 4 - 2);
  sender.ack(Time::us(17), 7, 0, Time::us(7));
  REQUIRE(sender.recovery.lost() == 0);
  // 5 was one too many.
  sender.ack(Time::us(18), 8, 0, Time::us(8));
  REQUIRE(sender.recovery.lost() == 2);
  REQUIRE(sender.signal == 1);
  REQUIRE(sender.send(2, Time::us(18)) == Numbers{0, 2});
  // One of them is enough.
  sender.ack(Time::us(28), 0, 6, Time::us(18));
  REQUIRE(sender.recovery.first_unacked() >= 6);
}

TEST_CASE("erasure coding by XOR: each redundant packet makes up for one loss of its share") {
  const ErasureCode shape{.data = 6, .redundant = 2, .scheme = ErasureCode::Scheme::kXor};
  const auto block = shape.block_of(0, 8, 0);
  const auto rebuilds = [&](const Numbers& lost) {
    return shape.rebuilds(
        block, [&](std::uint32_t n) { return std::find(lost.begin(), lost.end(), n) == lost.end(); });
  };
  REQUIRE(rebuilds({}));
  REQUIRE(rebuilds({0, 1}));        // one of the even, one of the odd
  REQUIRE(rebuilds({6, 7}));        // both redundant ones
  REQUIRE(rebuilds({2, 7}));        // 7 is the sum of the odd
  REQUIRE_FALSE(rebuilds({0, 2}));  // two of the even
  REQUIRE_FALSE(rebuilds({0, 6}));
  REQUIRE_FALSE(rebuilds({0, 1, 3}));
}

TEST_CASE("erasure coding by path: what comes late of a block that was rebuilt is no sign of loss") {
  auto parameters = code("4", "4");
  parameters["per_path"] = "true";
  Coded sender(12, erasure_coding(), parameters);
  // Blocks of eight: the first on path 2, of which nothing is heard; the others on path 1.
  sender.recovery.on_path(2);
  sender.send(8, Time());
  sender.recovery.on_path(1);
  sender.send(8, Time::us(8));
  for (std::uint32_t n = 8; n < 12; ++n) sender.ack(Time::us(10 + n), n, 0, Time::us(n));
  REQUIRE(sender.recovery.in_flight_packets() == 8);
  sender.send(6, Time::us(24));
  const auto late = sender.ack(Time::us(31), 15, 0, Time::us(15));
  REQUIRE(late.lost_packets == 0);
  REQUIRE(sender.recovery.in_flight_packets() == 14);
}

TEST_CASE("erasure coding: what a receiver has without it isn't sent") {
  Coded sender(4, erasure_coding(), code("4", "2"));
  sender.send(4, Time());
  for (std::uint32_t n = 0; n < 3; ++n) sender.ack(Time::us(10 + n), n, n + 1, Time::us(n));
  sender.ack(Time::us(13), 3, 6, Time::us(3));
  REQUIRE(sender.recovery.done());
  REQUIRE(sender.recovery.next_new() == 6);
  REQUIRE(sender.recovery.deadline() == Time::max());
}

TEST_CASE("erasure coding: the receiver notes a block when any so many of it are there") {
  using enum Reassembly::Verdict;
  const RecoveryKind kind = erasure_coding();
  ErasureReassembly receiver{ErasureCoding::Settings(Parameters(kind.info, code("4", "2")))};
  Arrivals arrivals;
  receiver.append(12, 8000);
  for (const std::uint32_t n : {1u, 2u, 5u, 7u}) REQUIRE(receiver.on_packet(n, arrivals) == kTaken);
  REQUIRE(arrivals.first_missing() == 0);
  REQUIRE(receiver.on_packet(4, arrivals) == kTaken);
  REQUIRE(arrivals.first_missing() == 6);
  REQUIRE(receiver.on_packet(0, arrivals) == kDuplicate);
  for (const std::uint32_t n : {6u, 8u, 9u}) REQUIRE(receiver.on_packet(n, arrivals) == kTaken);
  REQUIRE(arrivals.first_missing() == 12);
}

TEST_CASE("erasure coding: parameters out of range") {
  const RecoveryKind kind = erasure_coding();
  for (const auto& bad : {code("0", "1"), code("4", "0"), code("4", "5"), code("4", "2", "lt")})
    REQUIRE_THROWS_AS(ErasureCoding::Settings(Parameters(kind.info, bad)), InputError);
}

}  // namespace
}  // namespace weft::congestion
