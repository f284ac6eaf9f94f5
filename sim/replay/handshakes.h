// Large messages: a request, its answer, the data in pieces, and word that all has come.
#pragma once

#include <cstdint>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/departures.h"
#include "sim/replay/matching.h"
#include "sim/replay/open_collectives.h"
#include "sim/replay/replay.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/tasks.h"
#include "sim/replay/trails.h"
#include "sim/replay/wire.h"

namespace weft::sim {

class TimelineTap;

// Makes the handshakes of one share's ranks. Sends and receives that are under way are tasks of its share;
// those of which these functions say so are for their cpu to work on, or have finished, which is the caller's
// to do.
class Handshakes {
 public:
  static constexpr std::uint32_t kNone = ReplayTasks::kNone;

  Handshakes(const ReplayPlan& plan, const Engine& engine, const LargeVector<RankState>& ranks,
             ReplayTasks& tasks, const OpenCollectives& collectives, Departures& departures)
      : hosts_(plan.hosts),
        engine_(engine),
        ranks_(ranks),
        tasks_(tasks),
        collectives_(collectives),
        departures_(departures) {}
  void keep_trails(Trails& trails) { trails_ = &trails; }
  void set_tap(TimelineTap& tap) { tap_ = &tap; }

  // Must the receiver be asked before such a send?
  bool asks_first(std::uint64_t bytes) const { return bytes > hosts_.eager_limit_bytes; }

  // The sender's side. Its message becomes a request, which takes this connection and some of the bytes.
  std::uint32_t begin_send(ReplayTask send) {
    send.state = TaskState::kAwaitClear;
    return tasks_.add(send);
  }
  void make_request(std::uint32_t send, std::uint16_t connection, Message& message) {
    ReplayTask& task = tasks_[send];
    task.connection = connection;
    message.bytes = first_fragment(task.bytes);
    message.control = message.bytes == 0;
  }
  void send_data(const wire::ClearToSend& clear);
  // The network has sent data. True if the send has finished.
  bool on_sent(const Message& message);

  // The receiver's side: what it has to know of an eager message or a request.
  ArrivedMessage arrived(const Message& message) const {
    const std::uint32_t source = wire::ends_of(message).source, sender = wire::sender_of(message);
    if (wire::kind_of(message) == wire::Kind::kEager) return {message.bytes, source, sender};
    const std::uint64_t connection = departures_.connection_of(message);
    return {message.bytes | connection << ArrivedMessage::kConnectionShift, source, sender};
  }
  // A receive that has its message, or the request for it. Returns its task if all of the message is there;
  // else kNone, and the sender is answered.
  std::uint32_t begin_receive(const ArrivedMessage& message, ReplayTask receive);
  // True if that was the last of them.
  bool receive_data(const wire::Data& data, std::uint64_t bytes);

 private:
  std::uint64_t first_fragment(std::uint64_t bytes) const {
    return bytes < hosts_.first_fragment_bytes ? bytes : hosts_.first_fragment_bytes;
  }
  std::uint32_t begin_recorded(const ArrivedMessage& message, const ReplayTask& receive);
  template <typename Answer>
  void answer(std::uint32_t receive, const Answer& what);
  void send_piece(std::uint32_t send, Message& data);

  const HostConfig& hosts_;
  const Engine& engine_;
  const LargeVector<RankState>& ranks_;
  ReplayTasks& tasks_;
  const OpenCollectives& collectives_;
  Departures& departures_;
  TimelineTap* tap_ = nullptr;  // null: nobody records what ranks do
  Trails* trails_ = nullptr;    // null: nobody asks what the time of a run consists of
};

}  // namespace weft::sim
