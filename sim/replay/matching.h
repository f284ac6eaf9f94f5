// Message matching as MPI defines it: queues of posted receives and of unexpected messages.
//
// Source: MPI: A Message-Passing Interface Standard, version 4.0, section 3.5 (order, wildcards).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "goal/graph/graph.h"
#include "sim/core/random.h"
#include "sim/replay/keyed_queues.h"

namespace weft::sim {

// Set beside the communicator in messages inside collectives, which no user's receive may take.
inline constexpr std::uint32_t kCollectiveContext = 1u << 28;

// What a receive asks for and a message carries. A wildcard (goal::kAny) may stand in `source` and `tag` of
// a receive. MPI has none in messages, but GOAL allows "any tag" there too: such a message fits every tag.
struct MatchKey {
  std::uint32_t rank = 0;  // the receiver
  std::uint32_t source = 0;
  std::uint32_t tag = 0;
  std::uint32_t context = 0;  // the communicator

  bool operator==(const MatchKey&) const = default;
  std::uint64_t hash() const {
    const std::uint64_t from = static_cast<std::uint64_t>(rank) << 32 | source;
    const std::uint64_t what = static_cast<std::uint64_t>(tag) << 32 | context;
    return mix64(from * 0x9E3779B97F4A7C15ULL + what * 0xD1B54A32D192ED03ULL);
  }
  // Would a receive with this key take a message with that key?
  bool accepts(const MatchKey& message) const {
    return rank == message.rank && context == message.context &&
           (source == goal::kAny || source == message.source) &&
           (tag == goal::kAny || message.tag == goal::kAny || tag == message.tag);
  }
};

// What a receive has to know of its message. Packed: many may wait.
struct [[gnu::packed, gnu::aligned(4)]] ArrivedMessage {
  // An eager message has its size here; a request has what came with it, and in the upper 16 bits its
  // connection.
  std::uint64_t bytes = 0;
  std::uint32_t source = 0;  // rank
  // Task of the rendezvous. kNone: it was eager; with the highest bit: it was, and this is its record.
  std::uint32_t sender = 0;

  static constexpr int kConnectionShift = 48;
  std::uint64_t came_with_request() const { return bytes & ((std::uint64_t{1} << kConnectionShift) - 1); }
  std::uint16_t connection() const { return static_cast<std::uint16_t>(bytes >> kConnectionShift); }
};

// Posted receives and unexpected messages of a set of ranks. Receives go by the caller's handles. A message
// looks at no more than four queues, however many receives wait; but one with any tag, and a receive with a
// wildcard, looks through what waits at its rank, unless an equal one waits already.
class Matching {
 public:
  using Receives = KeyedQueues<MatchKey, std::uint32_t>;
  using Messages = KeyedQueues<MatchKey, ArrivedMessage>;
  static constexpr std::uint32_t kNone = Receives::kNone;
  explicit Matching(std::uint32_t ranks) : receives_(ranks), messages_(ranks) {}

  // A receive is posted: takes and returns the oldest message that it accepts, or waits.
  std::optional<ArrivedMessage> post(const MatchKey& key, std::uint32_t receive);
  // A message arrives: takes and returns the oldest receive that accepts it, or waits and returns kNone.
  std::uint32_t arrive(const MatchKey& key, const ArrivedMessage& message);

  const Receives& receives() const { return receives_; }
  const Messages& messages() const { return messages_; }
  std::uint64_t memory_bytes() const { return receives_.memory_bytes() + messages_.memory_bytes(); }

 private:
  std::uint32_t find_message(const MatchKey& receive) const;
  std::uint32_t find_receive(const MatchKey& message) const;

  // Receives that wait: without wildcard, from any source, of any tag, both.
  std::array<std::uint64_t, 4> waiting_{};
  std::uint64_t any_tag_messages_ = 0;
  Receives receives_;
  Messages messages_;
};
static_assert(sizeof(Matching::Receives::Entry) == 36);
static_assert(sizeof(Matching::Messages::Entry) == 48);

}  // namespace weft::sim
