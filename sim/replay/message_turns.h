// No message of a send overtakes another between the same ranks on the same communicator.
#pragma once

#include <cstdint>

#include "sim/replay/held_messages.h"
#include "sim/replay/matching.h"
#include "sim/replay/message_order.h"
#include "sim/replay/wire.h"

namespace weft::sim {

// Counts how many messages each rank of one share sent to others, and took from others, and holds those that
// came before their turn. It does so only where messages may overtake each other.
class MessageTurns {
 public:
  MessageTurns(std::uint32_t ranks, HeldMessages& held) : held_(held), early_(ranks) {}

  void keep_order() { keeps_order_ = true; }
  // Must this message not overtake others? In a collective no two messages fit the same receive.
  bool is_ordered(const Message& message) const { return keeps_order_ && !wire::is_of_collective(message); }
  // What the next message of a send is to carry.
  std::uint32_t number(const MessageStream& stream) { return keeps_order_ ? sent_.next(stream) : 0; }
  // Holds the message back until every earlier one of its stream has arrived. Calls arrive(message) for it
  // and for those that waited for it, if it is its turn. `local`: the receiver's number in the share.
  // REQUIRES: is_ordered().
  template <typename Arrive>
  void accept(std::uint32_t local, const Message& message, Arrive&& arrive) {
    const auto first = wire::FirstOfSend::decode(message);
    const MessageStream stream{first.ends.destination, first.ends.source, first.communicator};
    MatchKey key{local, stream.peer, first.number, stream.communicator};
    if (!accepted_.advance(stream, key.tag)) return early_.push(key, held_.hold(message));
    arrive(message);
    while (early_.size() > 0) {
      ++key.tag;
      const std::uint32_t next = early_.front(key);
      if (next == Matching::kNone) return;
      accepted_.advance(stream, key.tag);
      arrive(held_.release(early_.take(next)));
    }
  }

  std::uint64_t waiting() const { return early_.size(); }
  std::uint64_t memory_bytes() const { return early_.memory_bytes(); }

 private:
  HeldMessages& held_;
  bool keeps_order_ = false;
  StreamCounters sent_, accepted_;
  Matching::Receives early_;  // their places in held_, keyed with their number as tag
};

}  // namespace weft::sim
