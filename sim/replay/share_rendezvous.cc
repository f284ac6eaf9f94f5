// Large messages of a share, from the answer to their request on.
#include <algorithm>

#include "sim/replay/share.h"
#include "sim/replay/timeline_tap.h"

namespace weft::sim {

// The task of a receive that has its message, or the request for it.
void ReplayShare::begin_task(const ArrivedMessage& message, Task task) {
  if (message.sender == kNone) {
    task.bytes = message.bytes;
    return give_task(new_task(task));
  }
  if ((message.sender & kTask) != 0) return begin_recorded(message, task);
  task.state = TaskState::kAwaitData;
  task.bytes = message.came_with_request();
  task.connection = message.connection();
  answer(new_task(task), message.sender, MessageKind::kClearToSend);
}

// The same of an eager message that has a record.
[[gnu::noinline]] void ReplayShare::begin_recorded(const ArrivedMessage& message, Task task) {
  task.bytes = message.bytes;
  const std::uint32_t handle = new_task(task);
  tap_->matched(handle, message.sender & ~kTask);
  give_task(handle);
}

// From a receiver to the sender: that it may send, or that all has come.
void ReplayShare::answer(std::uint32_t receive, std::uint32_t sender, MessageKind kind) {
  const Task& task = tasks_[receive];
  const Route route{task.peer, task.nic, task.connection, channel_of(task)};
  Message message = message_to(view(task.local).rank(), route, kind);
  if (hosts_.answers_apart) message.channel |= kAnswerChannels;
  message.client[kSenderTask] = sender;
  message.client[kReceiverTask] = receive;
  inject(message);
}

// All but what went with the request.
void ReplayShare::send_data(const Message& clear) {
  const std::uint32_t send = clear.client[kSenderTask];
  Task& task = tasks_[send];
  const bool is_put = hosts_.rendezvous == Rendezvous::kPut;
  task.state = TaskState::kSending;
  task.next = 0;
  const Route route{task.peer, task.nic, task.connection, channel_of(task)};
  Message data = message_to(view(task.local).rank(), route, MessageKind::kData);
  data.notify_sent = is_put;
  data.client[kSenderTask] = send;
  data.client[kReceiverTask] = clear.client[kReceiverTask];
  data.client[kTag] = static_cast<std::uint32_t>(task.bytes);
  data.client[kNumber] = static_cast<std::uint32_t>(task.bytes >> 32);
  task.bytes -= first_fragment(task.bytes);
  const std::uint32_t depth = is_put ? hosts_.pipeline_depth : 1;
  do send_piece(data);
  while (tasks_[send].bytes > 0 && tasks_[send].next < depth);
}

// The next of those that have not been handed over.
void ReplayShare::send_piece(Message& data) {
  Task& task = tasks_[data.client[kSenderTask]];
  data.bytes =
      hosts_.rendezvous == Rendezvous::kPut ? std::min(task.bytes, hosts_.fragment_bytes) : task.bytes;
  task.bytes -= data.bytes;
  ++task.next;
  const std::uint32_t send = data.client[kSenderTask];
  if (trails_ && data.notify_sent) trails_->remember(send, engine_.now());
  inject(data);
}

// Pieces may come in any order.
void ReplayShare::receive_data(const Message& message) {
  const auto& word = message.client;
  const std::uint32_t receive = word[kReceiverTask];
  Task& task = tasks_[receive];
  task.bytes += message.bytes;
  if (task.bytes < (std::uint64_t{word[kNumber]} << 32 | word[kTag])) return;
  task.state = TaskState::kReceiveCpu;
  if (hosts_.rendezvous == Rendezvous::kGet) answer(receive, word[kSenderTask], MessageKind::kAllReceived);
  give_task(receive);
}

}  // namespace weft::sim
