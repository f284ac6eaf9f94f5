#include "sim/replay/wire.h"

#include <catch2/catch.hpp>

using namespace weft::sim;
using namespace weft::sim::wire;

namespace {

// The largest values that a replay has: whatever a word has room for, and 28 bits of a communicator.
constexpr std::uint32_t kLargest = 0xFFFFFFFEu, kLastCommunicator = kCollectiveContext - 1;
constexpr Ends kEnds{kLargest - 1, kLargest - 2};

// It comes back, from words that hold something else before and from a message whose fields nobody touches.
template <typename Kind>
Message there_and_back(const Kind& sent) {
  Message message;
  message.bytes = 77;
  message.client.fill(0x5A5A5A5A);
  sent.encode(message);
  CHECK(Kind::decode(message) == sent);
  CHECK(ends_of(message) == sent.ends);
  CHECK(message.bytes == 77);
  return message;
}

}  // namespace

TEST_CASE("the first message of a send says what it did when it arrives") {
  for (const Kind kind : {Kind::kEager, Kind::kRequestToSend}) {
    const FirstOfSend first{.kind = kind,
                            .ends = kEnds,
                            .sender = 5,
                            .tag = kLargest,
                            .communicator = kLastCommunicator,
                            .number = kLargest - 3};
    const Message message = there_and_back(first);
    CHECK(kind_of(message) == kind);
    CHECK(sender_of(message) == 5);
    CHECK_FALSE(is_of_collective(message));
  }
}

TEST_CASE("the first message of a step says what it did when it arrives") {
  for (const Kind kind : {Kind::kEager, Kind::kRequestToSend}) {
    const FirstOfStep first{.kind = kind,
                            .ends = kEnds,
                            .sender = kLargest,
                            .place = kLargest - 3,
                            .collective = kLargest - 4,
                            .communicator = kLastCommunicator,
                            .tag = kLargest - 5};
    const Message message = there_and_back(first);
    CHECK(kind_of(message) == kind);
    CHECK(is_of_collective(message));
  }
}

TEST_CASE("a clear-to-send, and word that all has come, name their tasks") {
  const Message clear = there_and_back(ClearToSend{.ends = kEnds, .sender = kLargest, .receiver = 3});
  CHECK(kind_of(clear) == Kind::kClearToSend);
  CHECK(sender_of(clear) == kLargest);
  const Message all = there_and_back(AllReceived{.ends = kEnds, .sender = kLargest});
  CHECK(kind_of(all) == Kind::kAllReceived);
  CHECK(sender_of(all) == kLargest);
}

TEST_CASE("data say how many bytes there are in all, in 64 bits") {
  for (const std::uint64_t whole : {std::uint64_t{0}, std::uint64_t{1} << 32, UINT64_MAX - 1}) {
    const Message data =
        there_and_back(Data{.ends = kEnds, .sender = 1, .receiver = kLargest, .whole = whole});
    CHECK(kind_of(data) == Kind::kData);
  }
}

TEST_CASE("an eager message with a record is like one without in all else") {
  FirstOfSend first{.ends = {1, 2}, .tag = 3, .communicator = 4, .number = 5};
  Message message;
  first.encode(message);
  CHECK(sender_of(message) == kNone);
  set_record(message, 6);
  first.sender = 6 | kRecord;
  CHECK(FirstOfSend::decode(message) == first);
}

TEST_CASE("handshakes are what carries no bytes of a receive") {
  CHECK_FALSE(is_handshake(Kind::kEager));
  CHECK_FALSE(is_handshake(Kind::kData));
  CHECK(is_handshake(Kind::kRequestToSend));
  CHECK(is_handshake(Kind::kClearToSend));
  CHECK(is_handshake(Kind::kAllReceived));
}
