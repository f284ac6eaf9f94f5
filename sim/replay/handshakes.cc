#include "sim/replay/handshakes.h"

#include <algorithm>

#include "sim/replay/timeline_tap.h"

namespace weft::sim {

// ---- The receiver ----

std::uint32_t Handshakes::begin_receive(const ArrivedMessage& message, ReplayTask receive) {
  receive.peer = message.source;
  receive.state = TaskState::kReceiveCpu;
  if (message.sender == kNone) {
    receive.bytes = message.bytes;
    return tasks_.add(receive);
  }
  if ((message.sender & wire::kRecord) != 0) return begin_recorded(message, receive);
  receive.state = TaskState::kAwaitData;
  receive.bytes = message.came_with_request();
  receive.connection = message.connection();
  const std::uint32_t handle = tasks_.add(receive);
  const wire::Ends ends{ranks_[receive.local].view.rank(), receive.peer};
  answer(handle, wire::ClearToSend{.ends = ends, .sender = message.sender, .receiver = handle});
  return kNone;
}

// Begins the receive of an eager message that has a record.
[[gnu::noinline]] std::uint32_t Handshakes::begin_recorded(const ArrivedMessage& message,
                                                           const ReplayTask& receive) {
  const std::uint32_t handle = tasks_.add(receive);
  tasks_[handle].bytes = message.bytes;
  tap_->matched(handle, message.sender & ~wire::kRecord);
  return handle;
}

// To the sender: that it may send, or that all has come.
template <typename Answer>
void Handshakes::answer(std::uint32_t receive, const Answer& what) {
  const ReplayTask& task = tasks_[receive];
  Message message = departures_.message(
      what.ends.source, {task.peer, task.nic, task.connection, collectives_.channel_of(task)});
  if (hosts_.answers_apart) message.channel |= kAnswerChannels;
  message.control = true;
  what.encode(message);
  departures_.inject(message);
}

// Pieces may come in any order.
bool Handshakes::receive_data(const wire::Data& data, std::uint64_t bytes) {
  ReplayTask& task = tasks_[data.receiver];
  task.bytes += bytes;
  if (task.bytes < data.whole) return false;
  task.state = TaskState::kReceiveCpu;
  if (hosts_.rendezvous == Rendezvous::kGet) {
    answer(data.receiver, wire::AllReceived{{data.ends.destination, task.peer}, data.sender});
  }
  return true;
}

// ---- The sender ----

// All but what went with the request.
void Handshakes::send_data(const wire::ClearToSend& clear) {
  const std::uint32_t send = clear.sender;
  ReplayTask& task = tasks_[send];
  const bool is_put = hosts_.rendezvous == Rendezvous::kPut;
  task.state = TaskState::kSending;
  task.next = 0;
  Message data = departures_.message(clear.ends.destination,
                                     {task.peer, task.nic, task.connection, collectives_.channel_of(task)});
  data.notify_sent = is_put;
  wire::Data{{clear.ends.destination, task.peer}, send, clear.receiver, task.bytes}.encode(data);
  task.bytes -= first_fragment(task.bytes);
  const std::uint32_t depth = is_put ? hosts_.pipeline_depth : 1;
  do send_piece(send, data);
  while (tasks_[send].bytes > 0 && tasks_[send].next < depth);
}

// The next of those that have not been handed over.
void Handshakes::send_piece(std::uint32_t send, Message& data) {
  ReplayTask& task = tasks_[send];
  data.bytes =
      hosts_.rendezvous == Rendezvous::kPut ? std::min(task.bytes, hosts_.fragment_bytes) : task.bytes;
  task.bytes -= data.bytes;
  ++task.next;
  if (trails_ != nullptr && data.notify_sent) trails_->remember(send, engine_.now());
  departures_.inject(data);
}

bool Handshakes::on_sent(const Message& message) {
  const std::uint32_t send = wire::sender_of(message);
  ReplayTask& task = tasks_[send];
  --task.next;
  if (trails_ != nullptr) trails_->at_sent(send, message, engine_.now());
  if (task.bytes > 0) {
    Message data = message;
    send_piece(send, data);
    return false;
  }
  return task.next == 0;
}

}  // namespace weft::sim
