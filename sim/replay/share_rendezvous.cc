// Large messages of a share, from the answer to their request on.
#include <algorithm>

#include "sim/replay/share.h"
#include "sim/replay/timeline_tap.h"

namespace weft::sim {

// The task of a receive that has its message, or the request for it.
void ReplayShare::begin_task(const ArrivedMessage& message, Task task) {
  if (message.sender == kNone) {
    task.bytes = message.bytes;
    return give_task(tasks_.add(task));
  }
  if ((message.sender & wire::kRecord) != 0) return begin_recorded(message, task);
  task.state = TaskState::kAwaitData;
  task.bytes = message.came_with_request();
  task.connection = message.connection();
  const std::uint32_t receive = tasks_.add(task);
  const wire::Ends ends{view(task.local).rank(), task.peer};
  answer(receive, wire::ClearToSend{.ends = ends, .sender = message.sender, .receiver = receive});
}

// The same of an eager message that has a record.
[[gnu::noinline]] void ReplayShare::begin_recorded(const ArrivedMessage& message, Task task) {
  task.bytes = message.bytes;
  const std::uint32_t handle = tasks_.add(task);
  tap_->matched(handle, message.sender & ~wire::kRecord);
  give_task(handle);
}

// From a receiver to the sender: that it may send, or that all has come.
template <typename Answer>
void ReplayShare::answer(std::uint32_t receive, const Answer& what) {
  const Task& task = tasks_[receive];
  Message message =
      departures_.message(what.ends.source, {task.peer, task.nic, task.connection, channel_of(task)});
  if (hosts_.answers_apart) message.channel |= kAnswerChannels;
  message.control = true;
  what.encode(message);
  departures_.inject(message);
}

// All but what went with the request.
void ReplayShare::send_data(const wire::ClearToSend& clear) {
  const std::uint32_t send = clear.sender;
  Task& task = tasks_[send];
  const bool is_put = hosts_.rendezvous == Rendezvous::kPut;
  task.state = TaskState::kSending;
  task.next = 0;
  const MessageRoute route{task.peer, task.nic, task.connection, channel_of(task)};
  Message data = departures_.message(clear.ends.destination, route);
  data.notify_sent = is_put;
  wire::Data{{clear.ends.destination, task.peer}, send, clear.receiver, task.bytes}.encode(data);
  task.bytes -= first_fragment(task.bytes);
  const std::uint32_t depth = is_put ? hosts_.pipeline_depth : 1;
  do send_piece(send, data);
  while (tasks_[send].bytes > 0 && tasks_[send].next < depth);
}

// The next of those that have not been handed over.
void ReplayShare::send_piece(std::uint32_t send, Message& data) {
  Task& task = tasks_[send];
  data.bytes =
      hosts_.rendezvous == Rendezvous::kPut ? std::min(task.bytes, hosts_.fragment_bytes) : task.bytes;
  task.bytes -= data.bytes;
  ++task.next;
  if (trails_ && data.notify_sent) trails_->remember(send, engine_.now());
  departures_.inject(data);
}

// Pieces may come in any order.
void ReplayShare::receive_data(const wire::Data& data, std::uint64_t bytes) {
  Task& task = tasks_[data.receiver];
  task.bytes += bytes;
  if (task.bytes < data.whole) return;
  task.state = TaskState::kReceiveCpu;
  if (hosts_.rendezvous == Rendezvous::kGet) {
    answer(data.receiver, wire::AllReceived{{data.ends.destination, task.peer}, data.sender});
  }
  give_task(data.receiver);
}

}  // namespace weft::sim
