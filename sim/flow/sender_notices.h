// When senders are told that their messages are sent: when these are acknowledged, or a send buffer has taken
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/flow/connections.h"
#include "sim/flow/flow_pool.h"
#include "sim/flow/fluids.h"

namespace weft::sim::flow {

// With a send buffer a sender is told as soon as its connection's has taken all of the message: each
// connection knows the first of its messages that waits for this. Without one, when the acknowledgement is
// there.
class SenderNotices {
 public:
  // Events of this kind at a host, of those from `first_host` on, say that it is told, with the message's
  // slot. All must outlive it.
  SenderNotices(Engine& engine, EntityId first_host, std::uint16_t kind, std::uint64_t buffer_bytes,
                FlowPool& flows, Fluids& fluids)
      : engine_(engine),
        first_host_(first_host),
        kind_(kind),
        buffer_bytes_(buffer_bytes),
        flows_(flows),
        fluids_(fluids) {}

  // Is its sender told by the send buffer, or by an acknowledgement? Of handshakes and copies within a host
  // it is when they arrive.
  bool is_taken(const Message& message) const { return buffer_bytes_ > 0 && is_told(message); }
  bool is_acknowledged(const Message& message) const { return buffer_bytes_ == 0 && is_told(message); }
  // The message comes last in its connection. Returns whether it is the first that waits; if another is at
  // the head, then aim() is next.
  bool wait(Connection& connection, std::uint32_t slot);
  // Works out when something happens next to the connection, which is a fluid of this number: so much of the
  // head has left that the send buffer takes another message whole, or all of it.
  void aim(Connection& connection, std::uint32_t fluid, Time now);
  // The last byte of the head has left; the head is still there.
  void leave(Connection& connection, Time now);

  // Between these there are no events: the slots are gathered, and the caller tells their senders itself.
  void begin_gathering() {
    gathered_.clear();
    gathering_ = true;
  }
  void gather(std::uint32_t slot) { gathered_.push_back(slot); }
  std::span<const std::uint32_t> end_gathering() {
    gathering_ = false;
    return gathered_;
  }

 private:
  static bool is_told(const Message& message) {
    return message.notify_sent && !message.control && message.source != message.destination;
  }
  void tell(Connection& connection, Time now);

  Engine& engine_;
  const EntityId first_host_;
  const std::uint16_t kind_;
  const std::uint64_t buffer_bytes_;
  FlowPool& flows_;
  Fluids& fluids_;
  std::vector<std::uint32_t> gathered_;
  bool gathering_ = false;
};

}  // namespace weft::sim::flow
