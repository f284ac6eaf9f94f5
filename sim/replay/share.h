// One partition's share of a replay: the ranks of its hosts, with all that is under way on them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/graph/graph.h"
#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/cpus.h"
#include "sim/replay/departures.h"
#include "sim/replay/held_messages.h"
#include "sim/replay/matching.h"
#include "sim/replay/message_turns.h"
#include "sim/replay/open_receives.h"
#include "sim/replay/progress.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/replay.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/tasks.h"
#include "sim/replay/trails.h"
#include "sim/replay/user_messages.h"
#include "sim/replay/wire.h"
#include "sim/results/records.h"
#include "sim/units/input_error.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// Of the bytes of all messages, whose sum is counted in 64 bits.
inline constexpr const char* kTooManyBytes = "the messages sent have more than 2^64 bytes in all";

class TimelineTap;

// Ranks go by two numbers: `rank` is the number in the graph, known everywhere, `local` the one in this
// share. Messages name ranks; their task handles mean something in the share of that task's rank only, and
// come back to no other: the sender's with on_sent and with a clear-to-send, the receiver's with the data.
class alignas(64) ReplayShare final : public NetworkClient {
 public:
  // `ranks` ascend.
  ReplayShare(const ReplayPlan& plan, Engine& engine, const std::vector<std::uint32_t>& ranks);

  void start(Network& network);
  // From then on it is known what the time of a run consists of. Before the start.
  void keep_trails(TrailRecords& records);
  // Of its ranks that are done. REQUIRES: keep_trails() was called.
  const Trails::Last& last_trail() const { return trails_->last(); }
  void on_sent(const Message& message) override;
  void on_delivered(const Message& message) override;
  void on_event(const Event& event) override;
  void expect(const Event& event, int look) const override;
  void expect(const Message& message, int look) const override;

  std::uint64_t executed_ops() const { return progress_.executed(); }
  // Has every operation finished, and was every message received?
  bool complete() const { return progress_.have_all_finished() && unreceived() == 0; }
  bool done() const { return progress_.have_all_finished() && progress_.have_all_begun(); }
  bool at_rest() const;
  std::uint32_t events_of(std::uint32_t rank) const { return ranks_[local_[rank]].scheduled; }
  // Messages that have arrived and that no receive took.
  std::uint64_t unreceived() const { return user_messages_.unreceived() + early_.size(); }
  // Of this share's ranks.
  ReplayTotals totals() const;
  results::Rank result(std::uint32_t rank) const;
  // Bytes held for what is under way, and 4 for each operation of a graph, which is not counted, nor the
  // plan. Of a packed file with the operations that are at hand, but without its blocks.
  std::uint64_t memory_bytes() const;
  Time finish(std::uint32_t rank) const { return ranks_[local_[rank]].finish; }

 private:
  friend class Diagnosis;
  friend class TimelineTap;
  static constexpr std::uint32_t kNone = RankState::kNone;
  enum EventKind : std::uint16_t {
    kRankStart = kClientKinds,
    kCpuDone,      // payload: cpu; its current work has ended
    kLaneDone,     // payload: lane; its own processor has done the work before its next messages
    kMessageReady  // payload: place of a message that was held; it goes to the NIC
  };
  using Task = ReplayTask;
  // Work is named by the operation (a calc, a send, or a receive that has its message), or by
  // kTask + the task.
  static constexpr std::uint32_t kTask = 1u << 31;
  // A collective operation under way on one rank.
  struct Active {
    goal::CollectiveCall call;
    const goal::ChosenAlgorithm* chosen = nullptr;
    std::uint32_t local = 0, op = 0;
    std::uint32_t number = 0, comm = 0;  // which collective it is on which communicator
    std::uint32_t first_lane = kNone, lanes = 0, lanes_left = 0;
    std::uint32_t lanes_of_channel = 0;  // 0: its messages take NICs as others do
    Time launched;                       // lanes with processors of their own send nothing before
    std::uint32_t next = kNone;          // of the same rank, or in the free list
  };
  struct OpenStep {
    goal::Step step;
    std::uint32_t left = 0;  // messages that were not handed over (send) or matched (receive) so far
    std::uint32_t next = 0;  // send: place of the next message among the step's peers
  };
  static bool is_send(const OpenStep& open) { return open.step.kind == goal::StepKind::kSend; }
  // The group that one lane of a collective is at.
  struct Lane {
    std::vector<OpenStep> steps;  // those that have messages
    std::uint32_t active = kNone, number = 0;
    std::uint32_t groups = 0;    // begun so far; the steps are of the last of them
    std::uint32_t left = 0;      // messages that have not finished
    Time busy;                   // its own processor, before it sends the group's messages
    std::uint32_t next = kNone;  // of the same collective, or in the free list
  };
  // A message of a collective that waits for its group.
  struct EarlyKey {
    std::uint32_t rank = 0;              // local
    std::uint32_t source = 0;            // place in the communicator
    std::uint32_t number = 0, comm = 0;  // which collective it is on which communicator
    std::uint32_t tag = 0;               // of the step
    bool operator==(const EarlyKey&) const = default;
    std::uint64_t hash() const { return MatchKey{rank, source, tag, comm}.hash() + mix64(number); }
  };
  using EarlyMessages = KeyedQueues<EarlyKey, ArrivedMessage>;

  const goal::OpView& view(std::uint32_t local) const { return ranks_[local].view; }

  std::uint32_t local_of(const RankState& rank) const {
    return static_cast<std::uint32_t>(&rank - ranks_.data());
  }
  void begin_rank(RankState& rank);
  void on_rare_event(RankState& rank, const Event& event);

  // Readiness.
  void drain();
  void begin(const Progress::Ready& ready);
  void finish_op(RankState& rank, goal::OpIndex op);
  void finish_task(std::uint32_t task);

  // Cpus.
  std::uint32_t& next_work(const RankState& rank, std::uint32_t work) {
    return (work & kTask) == 0 ? rank.words[work] : tasks_[work & ~kTask].next;
  }
  void give(RankState& rank, std::uint32_t cpu, std::uint32_t work);
  void take_up(RankState& rank, Cpu& cpu);
  bool begin_work(RankState& rank, Cpu& cpu, std::uint32_t work);
  void schedule_done(RankState& rank, const Cpu& cpu, Time duration) {
    const std::uint32_t index = cpus_.index(cpu);
    if (trails_) trails_->on_cpu(index, duration, computes(rank, cpu.current));
    schedule_own(rank, duration, kCpuDone, index);
  }
  bool computes(const RankState& rank, std::uint32_t work) const {
    return (work & kTask) == 0 ? rank.view.op(work).kind == goal::OpKind::kCalc
                               : tasks_[work & ~kTask].state == TaskState::kCombine;
  }
  Time start_of_work(RankState& rank, std::uint32_t work);
  bool end_work(RankState& rank, Cpu& cpu);
  [[noreturn]] void refuse_work(const RankState& rank, std::uint32_t work, const InputError& error) const;
  void end_of_task(std::uint32_t task);
  void give_task(std::uint32_t task);
  void count_received(RankState& rank, std::uint64_t bytes);
  void count_sent(RankState& rank, std::uint64_t bytes);
  Time overhead(std::uint64_t bytes) const {
    if (!has_overhead_per_byte_) return overhead_;
    return after(overhead_, hosts_.overhead_per_byte.after_first(bytes));
  }

  // Collectives (collectives.cc).
  void next_group(std::uint32_t lane);
  void begin_group(std::uint32_t lane);
  void begin_group_of_own_processor(std::uint32_t lane);
  void end_work_of_lane(std::uint32_t lane);
  bool same_node(const Active& active, std::uint32_t peer) const;
  Time work_of_lane(const Active& active, const std::vector<OpenStep>& steps, goal::StepKind kind) const;
  void schedule_own(RankState& rank, Time duration, EventKind kind, std::uint32_t payload) {
    engine_.schedule_counted(after(engine_.now(), duration), first_entity_ + rank.view.rank(),
                             rank.scheduled++, kind, payload);
  }
  void schedule_lane(RankState& rank, Time duration, std::uint32_t lane) {
    if (trails_) trails_->on_lane(lane, duration);
    schedule_own(rank, duration, kLaneDone, lane);
  }
  void begin_train(std::uint32_t lane, std::uint32_t step);
  void point_train(Task& train);
  bool end_of_train_message(Cpu& cpu, std::uint32_t train);
  void begin_receives(std::uint32_t lane, std::uint32_t step);
  void fetch_early(const Lane& lane) const;
  Time combine_duration(const Task& task) const;
  void finish_message(std::uint32_t lane);
  void finish_lane(std::uint32_t lane);
  void finish_active(std::uint32_t active);
  void begin_collective(std::uint32_t local, goal::OpIndex op);
  static bool is_indexed(const Active& active);
  void open_receives(std::uint32_t lane);
  void close_receives(Lane& lane);
  std::pair<std::uint32_t, std::uint32_t> receive_of(std::uint32_t active, std::uint32_t source,
                                                     std::uint32_t tag) const;
  void arrive_in_collective(const Message& message);
  void matched_in_step(std::uint32_t lane, std::uint32_t step, const ArrivedMessage& message);

  // Messages.
  std::uint32_t channel_of(const Task& task) const {
    if (task.lane == kNone) return kNone;
    const Lane& lane = lanes_[task.lane];
    const std::uint32_t lanes = actives_[lane.active].lanes_of_channel;
    return lanes == 0 ? kNone : lane.number / lanes;
  }
  std::uint64_t first_fragment(std::uint64_t bytes) const {
    return bytes < hosts_.first_fragment_bytes ? bytes : hosts_.first_fragment_bytes;
  }
  void send_first(RankState& rank, goal::OpIndex op, std::uint64_t bytes, std::uint32_t task);
  void request_to_send(RankState& rank, goal::OpIndex op);
  void send_first_of_step(const Task& from, std::uint32_t task);
  template <typename Answer>
  void answer(std::uint32_t receive, const Answer& what);
  void send_data(const wire::ClearToSend& clear);
  void send_piece(std::uint32_t send, Message& data);
  void receive_data(const wire::Data& data, std::uint64_t bytes);
  void begin_receive(RankState& rank, goal::OpIndex op);
  void arrive(const Message& message);
  void matched(RankState& rank, goal::OpIndex op, const ArrivedMessage& message);
  void matched_otherwise(RankState& rank, goal::OpIndex op, const ArrivedMessage& message);
  void begin_task(const ArrivedMessage& message, Task task);
  void begin_recorded(const ArrivedMessage& message, Task task);
  void accept_in_order(const Message& message);

  std::uint32_t new_active();
  std::uint32_t new_lane();
  ArrivedMessage arrived(const Message& message) const;

  const ReplayPlan& plan_;
  const goal::ProgramFacts& program_;
  const HostConfig& hosts_;
  const std::uint32_t* local_;  // of each rank of the program
  const EntityId first_entity_;
  Engine& engine_;
  TimelineTap* tap_ = nullptr;      // null: nobody records what it does
  std::unique_ptr<Trails> trails_;  // null: nobody asks what its time consists of
  const Time overhead_;             // o
  const bool has_overhead_per_byte_;

  LargeVector<RankState> ranks_;
  Progress progress_;
  Cpus cpus_;
  ReplayTasks tasks_;
  std::vector<Active> actives_;
  std::vector<Lane> lanes_;
  std::uint32_t free_active_ = kNone, free_lane_ = kNone;
  OpenReceives open_receives_;
  std::vector<Time> proxies_;  // when the thread of each rank is free that hands on messages between nodes
  goal::Group group_;          // where algorithms write
  UserMessages user_messages_;
  EarlyMessages early_;
  std::vector<std::uint32_t> found_;
  HeldMessages held_;
  MessageTurns turns_;
  Departures departures_;
  std::uint64_t bytes_ = 0;  // of all messages sent
};

}  // namespace weft::sim
