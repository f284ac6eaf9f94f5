// Messages of sends, and their receives.
#pragma once

#include <cstdint>

#include "goal/graph/graph.h"
#include "sim/core/network.h"
#include "sim/replay/departures.h"
#include "sim/replay/handshakes.h"
#include "sim/replay/held_messages.h"
#include "sim/replay/message_turns.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/rank_work.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/user_messages.h"
#include "sim/replay/wire.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// Carries out the sends and receives of one share's ranks. A receive is for its cpu when its message has
// come, or its task when all of a large one is there; until then, and while it waits to be matched, nothing
// is to be done.
class PointToPoint {
 public:
  static constexpr std::uint32_t kNone = UserMessages::kNone;

  PointToPoint(const ReplayPlan& plan, LargeVector<RankState>& ranks, std::uint32_t count, HeldMessages& held,
               Departures& departures, Handshakes& handshakes)
      : local_(plan.local.data()),
        ranks_(ranks),
        departures_(departures),
        handshakes_(handshakes),
        messages_(count, plan.program.facts().has_wildcards),
        turns_(count, held) {}
  void keep_order() { turns_.keep_order(); }

  // The cpu has done its work on a send. False: it goes on with a handshake, else it has finished.
  bool send(RankState& rank, goal::OpIndex op) {
    if (handshakes_.asks_first(rank.view.op(op).value) || rank.view.op(op).kind.synchronous()) [[unlikely]] {
      request_to_send(rank, op);
      return false;
    }
    send_first(rank, op, kNone);
    return true;
  }
  // A receive is posted. Returns the work for its cpu, kNone if there is none so far.
  std::uint32_t post(RankState& rank, goal::OpIndex op) {
    const goal::Op& receive = rank.view.op(op);
    const auto message =
        messages_.post(local_of(rank), rank.words, {receive.peer, receive.tag, receive.comm}, op);
    return message ? matched(rank, op, *message) : kNone;
  }
  // A message or request has come. Calls give(rank, receive, work) for each receive that has work for its
  // cpu now.
  template <typename Give>
  void arrive(const Message& message, Give&& give) {
    if (turns_.is_ordered(message)) return accept_in_order(message, give);
    take(message, give);
  }

  // Fetches into the cache what arrive() will look at.
  void expect(std::uint32_t local, const Message& message, int look) const;
  const UserMessages& messages() const { return messages_; }
  std::uint64_t memory_bytes() const { return messages_.memory_bytes() + turns_.memory_bytes(); }

 private:
  std::uint32_t local_of(const RankState& rank) const {
    return static_cast<std::uint32_t>(&rank - ranks_.data());
  }
  // The eager message of a send, or (task != kNone) its request and what goes with that.
  void send_first(RankState& rank, goal::OpIndex index, std::uint32_t task) {
    const goal::Op& op = rank.view.op(index);
    const MessageRoute route{op.peer, op.nic, departures_.next_connection(rank)};
    Message message = departures_.message(rank.view.rank(), route);
    message.bytes = op.value;
    wire::FirstOfSend first{.ends = {rank.view.rank(), op.peer}, .tag = op.tag, .communicator = op.comm};
    if (task != kNone) [[unlikely]] {
      handshakes_.make_request(task, route.connection, message);
      first.kind = wire::Kind::kRequestToSend;
      first.sender = task;
    }
    first.number = turns_.number({first.ends.source, op.peer, op.comm});
    first.encode(message);
    departures_.inject(message);
  }
  void request_to_send(RankState& rank, goal::OpIndex op);
  // Those that have their turn arrive.
  template <typename Give>
  [[gnu::noinline]] void accept_in_order(const Message& message, Give&& give) {
    turns_.accept(local_[wire::ends_of(message).destination], message,
                  [&](const Message& first) { take(first, give); });
  }
  template <typename Give>
  void take(const Message& message, Give&& give) {
    const auto first = wire::FirstOfSend::decode(message);
    const std::uint32_t local = local_[first.ends.destination];
    RankState& rank = ranks_[local];
    const ArrivedMessage there = handshakes_.arrived(message);
    const UserMessages::Key key{first.ends.source, first.tag, first.communicator};
    const std::uint32_t receive = messages_.arrive(local, rank.words, key, there);
    if (receive == kNone) return;
    const std::uint32_t work = matched(rank, receive, there);
    if (work != kNone) give(rank, receive, work);
  }
  // The receive has its message, or the request for it.
  std::uint32_t matched(RankState& rank, goal::OpIndex op, const ArrivedMessage& message) {
    if (message.sender == kNone && message.bytes == rank.view.op(op).value) [[likely]]
      return op;
    return matched_otherwise(rank, op, message);
  }
  std::uint32_t matched_otherwise(RankState& rank, goal::OpIndex op, const ArrivedMessage& message);

  const std::uint32_t* const local_;  // of each rank of the program
  LargeVector<RankState>& ranks_;
  Departures& departures_;
  Handshakes& handshakes_;
  UserMessages messages_;
  MessageTurns turns_;
};

}  // namespace weft::sim
