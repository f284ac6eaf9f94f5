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
    connection.trip = trips_.make(
        message, per_message
                     ? routing::flow_identity(message.source, flow.number)
                     : routing::connection_identity(message.source, message.destination, message.source_nic,
                                                    message.destination_nic, message.channel));
  }
  flow.connection = index;
  flow.trip = connection.trip;
  flow.end = connection.given += message.bytes;
  flow.state = Flow::State::kWaiting;
  const bool is_first = connection.head == Connection::kNone;
  (is_first ? connection.head : flows_[connection.tail].next) = slot;
  connection.tail = slot;
  const bool is_next_told = notices_.wait(connection, slot);
  if (is_first) {
    begin(index);
  } else if (is_next_told) {
    notices_.aim(connection, index, clock_);
  }
}

// What is at the head goes on its way; behind handshakes the next one too.
void FlowNetwork::begin(std::uint32_t index) {
  for (;;) {
    Connection& connection = connections_[index];
    if (connection.head == Connection::kNone) break;
    Flow& head = flows_[connection.head];
    if (connection.flows && !head.message.control) {
      follow(connection, head);
      head.through = fluids_.through(index, clock_);
      head.state = Flow::State::kFlowing;
    } else if (connection.flows) {
      terms_.find(head, way_);
      leave(connection.head, after(clock_, head.ideal));
    } else {
      connection.wire_bytes = 0;
      join(connection.head);
      connection.flows = head.state == Flow::State::kFlowing;
    }
    if (head.state != Flow::State::kDrained) return notices_.aim(connection, index, clock_);
    step(connection);
  }
  Connection& connection = connections_[index];
  if (connection.flows) {
    fluids_.leave(index, clock_);
    balance_.went();
  }
  connection.flows = false;
}

// The way is that of those before it, so equal messages need not look for it.
void FlowNetwork::follow(Connection& connection, Flow& head) {
  if (connection.wire_bytes == head.wire_bytes) {
    head.latency = connection.latency;
    head.answer = connection.answer;
    head.ideal = connection.ideal;
    return;
  }
  terms_.find(head, way_);
  connection.wire_bytes = head.wire_bytes;
  connection.latency = head.latency;
  connection.answer = head.answer;
  connection.ideal = head.ideal;
}

// The head's last byte has left.
void FlowNetwork::begin_next(std::uint32_t index) {
  step(connections_[index]);
  begin(index);
}

void FlowNetwork::step(Connection& connection) {
  notices_.leave(connection, clock_);
  connection.head = flows_[connection.head].next;
  if (connection.head == Connection::kNone) connection.tail = Connection::kNone;
}

}  // namespace weft::sim::flow
