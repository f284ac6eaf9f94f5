// Messages of one connection: one fluid, in which they follow each other.
#include <algorithm>

#include "sim/flow/flow_network.h"
#include "sim/routing/path_draws.h"

namespace weft::sim::flow {

// The message takes its place behind the others of its connection.
void FlowNetwork::queue(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  const Message& message = flow.message;
  const bool per_message = config_.connections.per_message;
  const std::uint32_t index = connections_.find_or_add(
      {.source = message.source,
       .destination = message.destination,
       .channel = per_message ? flow.number : message.channel,
       .nics = static_cast<std::uint16_t>(message.source_nic << 8 | message.destination_nic)});
  Connection& connection = connections_[index];
  if (connection.open++ == 0) {
    connection.trip = trip_of(
        message, per_message
                     ? routing::flow_identity(message.source, flow.number)
                     : routing::connection_identity(message.source, message.destination, message.source_nic,
                                                    message.destination_nic, message.channel));
  }
  flow.connection = index;
  flow.trip = connection.trip;
  flow.end = connection.given += message.bytes;
  flow.state = State::kWaiting;
  const bool is_first = connection.head == Connection::kNone;
  (is_first ? connection.head : flows_[connection.tail].next) = slot;
  connection.tail = slot;
  const bool is_next_told = is_told(message) && connection.untold == Connection::kNone;
  if (is_next_told) connection.untold = slot;
  if (is_first) {
    begin(index);
  } else if (is_next_told) {
    aim(index);
  }
}

// Is its sender told when it was sent? Of handshakes, when they arrive.
bool FlowNetwork::is_told(const Message& message) { return message.notify_sent && !message.control; }

// What is at the head goes on its way; behind handshakes the next one too.
void FlowNetwork::begin(std::uint32_t index) {
  for (;;) {
    Connection& connection = connections_[index];
    if (connection.head == Connection::kNone) break;
    Flow& head = flows_[connection.head];
    if (connection.flows && !head.message.control) {
      follow(connection, head);
      head.through = progress_.through(index, clock_);
      head.state = State::kFlowing;
    } else if (connection.flows) {
      find_way(head);
      leave(connection.head, after(clock_, head.ideal));
    } else {
      connection.wire_bytes = 0;
      join(connection.head);
      connection.flows = head.state == State::kFlowing;
    }
    if (head.state != State::kDrained) return aim(index);
    step(connection);
  }
  Connection& connection = connections_[index];
  if (connection.flows) {
    take_out(index, clock_);
    ++went_;
  }
  connection.flows = false;
}

// The way is that of those before it, so equal messages need not look for it.
void FlowNetwork::follow(Connection& connection, Flow& head) {
  if (connection.wire_bytes == head.wire_bytes) {
    head.latency = connection.latency;
    head.ideal = connection.ideal;
    return;
  }
  find_way(head);
  connection.wire_bytes = head.wire_bytes;
  connection.latency = head.latency;
  connection.ideal = head.ideal;
}

// The head's last byte has left.
void FlowNetwork::begin_next(std::uint32_t index) {
  step(connections_[index]);
  begin(index);
}

void FlowNetwork::step(Connection& connection) {
  const Flow& left = flows_[connection.head];
  const std::uint64_t buffer = config_.connections.send_buffer_bytes;
  while (connection.untold != Connection::kNone) {
    const std::uint64_t end = flows_[connection.untold].end;
    if (end > left.end && end - left.end > buffer) break;
    // With nothing in a buffer a message is not told before its own end, though it may have no bytes.
    const bool has_left = connection.untold == connection.head;
    if (buffer == 0 && !has_left) break;
    tell(connection);
  }
  connection.head = left.next;
  if (connection.head == Connection::kNone) connection.tail = Connection::kNone;
}

// Works out when something happens next: so much of the head has left that the send buffer takes another
// message whole, or all of it.
void FlowNetwork::aim(std::uint32_t index) {
  Connection& connection = connections_[index];
  Flow& head = flows_[connection.head];
  const std::uint64_t buffer = config_.connections.send_buffer_bytes;
  const bool flows = head.state == State::kFlowing;
  if (buffer > 0) {
    if (flows) settle(connection.head, clock_);
    head.target = 0;
    while (connection.untold != Connection::kNone) {
      const std::uint64_t end = flows_[connection.untold].end, at = end - std::min(end, buffer);
      if (at >= head.end) break;
      const std::uint64_t rest = head.end - at;  // of the head's payload when it has room
      if (rest < head.message.bytes) {
        const Amount target = kBytePs * static_cast<std::uint64_t>(static_cast<Amount>(head.wire_bytes) *
                                                                   rest / head.message.bytes);
        if (head.left > target) {
          head.target = target;
          break;
        }
      }
      tell(connection);
    }
  }
  if (flows) set_aim(connection.head, clock_);
}

// Tells the sender of the first that waits for it; later, if this is no time to call the client.
void FlowNetwork::tell(Connection& connection) {
  const std::uint32_t slot = connection.untold;
  if (draining_) {
    told_.push_back(slot);
  } else {
    engine_.schedule(clock_, first_entity_ + flows_[slot].message.source, kTaken, slot);
  }
  std::uint32_t next = flows_[slot].next;
  while (next != Connection::kNone && !is_told(flows_[next].message)) next = flows_[next].next;
  connection.untold = next;
}

}  // namespace weft::sim::flow
