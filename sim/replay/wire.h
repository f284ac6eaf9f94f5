// The kinds of messages of a replay, and what each says in the words of Message::client.
#pragma once

#include <cstdint>

#include "sim/core/network.h"
#include "sim/replay/matching.h"

namespace weft::sim::wire {

enum class Kind : std::uint32_t {
  kEager,
  kRequestToSend,
  kClearToSend,
  kData,
  kAllReceived,  // the receiver has got what it asked for (Rendezvous::kGet)
};
// Those that carry no bytes that a receive asks for, unless some came with the request.
inline constexpr bool is_handshake(Kind kind) { return kind != Kind::kEager && kind != Kind::kData; }

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;
// Set beside the number of a record, where an eager message has one.
inline constexpr std::uint32_t kRecord = 1u << 31;

// The ranks that every message is from and to.
struct Ends {
  std::uint32_t source = 0, destination = 0;
  bool operator==(const Ends&) const = default;
};

// Where the words are. The kind shares one with the communicator and the mark of collectives, which need 29
// bits. Outside of this header nobody needs to know.
namespace layout {
enum Word { kSender, kReceiver, kSource, kDestination, kTag, kKindAndContext, kNumber };
inline constexpr int kKindShift = 29;
inline constexpr std::uint32_t kContextMask = (1u << kKindShift) - 1;
inline std::uint32_t kind_and_context(Kind kind, std::uint32_t context) {
  return static_cast<std::uint32_t>(kind) << kKindShift | context;
}
}  // namespace layout

inline Kind kind_of(const Message& message) {
  return static_cast<Kind>(message.client[layout::kKindAndContext] >> layout::kKindShift);
}
inline Ends ends_of(const Message& message) {
  return {message.client[layout::kSource], message.client[layout::kDestination]};
}
// Is this eager message or request of a step of a collective?
inline bool is_of_collective(const Message& message) {
  return (message.client[layout::kKindAndContext] & kCollectiveContext) != 0;
}
// What this eager message or request is on.
inline std::uint32_t communicator_of(const Message& message) {
  return message.client[layout::kKindAndContext] & layout::kContextMask & ~kCollectiveContext;
}
// Its record or kNone of an eager message, the sender's task of any other.
inline std::uint32_t sender_of(const Message& message) { return message.client[layout::kSender]; }
inline void set_record(Message& eager, std::uint32_t record) {
  eager.client[layout::kSender] = record | kRecord;
}

// The message of a send, or the request to send it.
struct FirstOfSend {
  Kind kind = Kind::kEager;  // or kRequestToSend
  Ends ends;
  std::uint32_t sender = kNone;  // see sender_of()
  std::uint32_t tag = 0, communicator = 0;
  std::uint32_t number = 0;  // among those of its stream, where order is kept
  bool operator==(const FirstOfSend&) const = default;

  void encode(Message& message) const {
    message.client = {
        sender, 0, ends.source, ends.destination, tag, layout::kind_and_context(kind, communicator), number};
  }
  static FirstOfSend decode(const Message& message) {
    const auto& word = message.client;
    return {.kind = kind_of(message),
            .ends = ends_of(message),
            .sender = sender_of(message),
            .tag = word[layout::kTag],
            .communicator = word[layout::kKindAndContext] & layout::kContextMask,
            .number = word[layout::kNumber]};
  }
};

// A step of a collective begins with this: its message, or the request to send it.
struct FirstOfStep {
  Kind kind = Kind::kEager;  // or kRequestToSend
  Ends ends;
  std::uint32_t sender = kNone;                    // see sender_of()
  std::uint32_t place = 0;                         // the sender's in the communicator
  std::uint32_t collective = 0, communicator = 0;  // which collective it is on which communicator
  std::uint32_t tag = 0;                           // of the step
  bool operator==(const FirstOfStep&) const = default;

  void encode(Message& message) const {
    message.client = {sender,      place,
                      ends.source, ends.destination,
                      collective,  layout::kind_and_context(kind, communicator | kCollectiveContext),
                      tag};
  }
  static FirstOfStep decode(const Message& message) {
    const auto& word = message.client;
    return {.kind = kind_of(message),
            .ends = ends_of(message),
            .sender = sender_of(message),
            .place = word[layout::kReceiver],
            .collective = word[layout::kTag],
            .communicator = communicator_of(message),
            .tag = word[layout::kNumber]};
  }
};

// From the receiver: the sender may send, or hand over what is asked for.
struct ClearToSend {
  Ends ends;
  std::uint32_t sender = kNone, receiver = kNone;  // tasks
  bool operator==(const ClearToSend&) const = default;

  void encode(Message& message) const {
    message.client = {
        sender, receiver, ends.source, ends.destination, 0, layout::kind_and_context(Kind::kClearToSend, 0),
        0};
  }
  static ClearToSend decode(const Message& message) {
    return {ends_of(message), sender_of(message), message.client[layout::kReceiver]};
  }
};

// What did not go with the request, or a fragment of it.
struct Data {
  Ends ends;
  std::uint32_t sender = kNone, receiver = kNone;  // tasks
  std::uint64_t whole = 0;                         // bytes of the message in all
  bool operator==(const Data&) const = default;

  void encode(Message& message) const {
    message.client = {sender,
                      receiver,
                      ends.source,
                      ends.destination,
                      static_cast<std::uint32_t>(whole),
                      layout::kind_and_context(Kind::kData, 0),
                      static_cast<std::uint32_t>(whole >> 32)};
  }
  static Data decode(const Message& message) {
    const auto& word = message.client;
    return {ends_of(message), sender_of(message), word[layout::kReceiver],
            std::uint64_t{word[layout::kNumber]} << 32 | word[layout::kTag]};
  }
};

// From the receiver: all has come.
struct AllReceived {
  Ends ends;
  std::uint32_t sender = kNone;  // its task
  bool operator==(const AllReceived&) const = default;

  void encode(Message& message) const {
    message.client = {
        sender, 0, ends.source, ends.destination, 0, layout::kind_and_context(Kind::kAllReceived, 0), 0};
  }
  static AllReceived decode(const Message& message) { return {ends_of(message), sender_of(message)}; }
};

}  // namespace weft::sim::wire
