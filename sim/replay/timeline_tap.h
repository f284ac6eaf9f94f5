// Watches a share of a replay, and records what its ranks do when. It stands between share and network, in
// both directions: a replay that isn't recorded has none, and pays nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/replay/record_pool.h"
#include "sim/replay/share.h"
#include "sim/results/timeline.h"

namespace weft::sim {

class TimelineRecords : public RecordPool<results::TimelineMessage> {};

// Eager messages, which else carry no task of their sender, carry the number of their record, so that every
// receive knows its message. Nothing that is scheduled changes. Each share has a tap of its own; what one
// reads of another was written before a message was sent that has arrived since.
class TimelineTap final : public NetworkClient, public Network {
 public:
  TimelineTap(ReplayShare& share, std::uint32_t job, results::TimelinePart& recorder,
              TimelineRecords& messages);

  // The share's network is this tap, and it hands on to that one. `tap_of`: of the share that a rank is in.
  void start(Network& network, std::function<TimelineTap&(std::uint32_t rank)> tap_of);
  // Records that are not in use.
  std::span<const std::uint32_t> free_messages() const { return free_messages_.all(); }

  void on_sent(const Message& message) override;
  void on_delivered(const Message& message) override;
  void on_event(const Event& event) override;
  void expect(const Event& event, int look) const override { share_.expect(event, look); }
  void expect(const Message& message, int look) const override { share_.expect(message, look); }

  void inject(const Message& message) override;
  bool delivers_in_order() const override { return network_->delivers_in_order(); }

  // What the share tells it: a receive has this message, by its record; and the work of a receive, or of
  // combining, ends.
  void matched(std::uint32_t task, std::uint32_t record) { record_of(task) = record; }
  void end_of_task(std::uint32_t task);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  using Kind = wire::Kind;
  using Slice = results::Slice;
  using SliceKind = results::SliceKind;

  // Why a cpu that waited goes on: a message came, before `sent` of which there was nothing to wait for but
  // the peer. No message: something else of the rank's own.
  struct Cause {
    std::uint64_t message = results::kNoMessage;
    std::uint32_t peer = results::kNotGiven;
    std::uint64_t bytes = 0;
    Time sent;
  };
  // The sender's side of a large message: by its task.
  struct Rendezvous {
    std::uint32_t record = kNone;
    Cause cause;  // `sent`: when it was cleared
  };
  // The work of a send that has ended, until its message goes to the network.
  struct Sent {
    Slice slice;
    std::uint32_t cpu = 0, work = 0;                   // place in the share's cpus
    bool is_step = false;                              // of a collective, named by what follows
    std::uint32_t number = 0, comm = 0, step_tag = 0;  // `comm`: of a send, too
  };

  const RankState& rank_of(std::uint32_t local) const { return share_.ranks()[local]; }
  std::uint32_t& record_of(std::uint32_t task) {
    if (records_.size() <= task) records_.resize(task + 1, kNone);
    return records_[task];
  }
  template <typename Call>
  void watch(std::uint32_t local, const Cause& cause, Call&& call);
  void close_gap(std::uint32_t local, std::uint32_t cpu);
  void add_gap(std::uint32_t local, std::uint32_t cpu, SliceKind kind, Time start, Time end);
  Slice slice_of(std::uint32_t local, std::uint32_t cpu, std::uint32_t op, SliceKind kind);
  std::uint8_t collective_of(const ActiveCollective& active);
  void end_of_work(std::uint32_t local, std::uint32_t cpu);
  std::optional<Sent> send_of(std::uint32_t local, std::uint32_t cpu);
  bool is_of(const Sent& sent, const Message& message) const;
  std::optional<Sent> sender_of(const Message& message);
  std::uint32_t new_record(const Message& message);

  ReplayShare& share_;
  const std::uint32_t job_;
  results::TimelinePart& recorder_;
  TimelineRecords& messages_;  // under way
  Network* network_ = nullptr;
  std::function<TimelineTap&(std::uint32_t rank)> tap_of_;
  std::vector<Time> since_;   // of each cpu: the end of its last slice, or the start of what it works on
  std::vector<bool> closed_;  // of each rank: all its operations have finished
  std::vector<bool> was_idle_;
  Cause cause_;                          // of the event at hand
  bool ends_work_ = false;               // the event at hand is the end of work of a task
  bool is_held_message_ = false;         // it hands on a message that was held
  std::optional<Sent> sent_;             // its work has ended in the event at hand
  std::deque<Sent> held_;                // their messages are
  std::vector<std::uint32_t> records_;   // by task of a receive
  GrowingArray<Rendezvous> rendezvous_;  // by task of a send
  TimelineRecords::AtHand free_messages_;
};

}  // namespace weft::sim
