// One partition's share of a replay: the ranks of its hosts, with all that is under way on them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/collectives.h"
#include "sim/replay/cpu_work.h"
#include "sim/replay/cpus.h"
#include "sim/replay/departures.h"
#include "sim/replay/early_messages.h"
#include "sim/replay/handshakes.h"
#include "sim/replay/held_messages.h"
#include "sim/replay/open_collectives.h"
#include "sim/replay/overlap.h"
#include "sim/replay/point_to_point.h"
#include "sim/replay/progress.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/rank_work.h"
#include "sim/replay/replay.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/tasks.h"
#include "sim/replay/trails.h"
#include "sim/replay/user_messages.h"
#include "sim/replay/wire.h"
#include "sim/results/records.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

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
  void keep_trails(TrailRecords& records, const CommunicationClasses& classes);
  // REQUIRES: that was called, and the replay has no other share.
  void keep_steps() { trails_->keep_steps(); }
  const PathSteps* steps() const { return trails_->steps(); }
  // From then on the tap is told which work ends, and of which message a receive is. Before the start.
  void set_tap(TimelineTap& tap);
  // Only its ranks that are done count. REQUIRES: keep_trails() was called.
  const Trails::Last& last_trail() const { return trails_->last(); }
  // Fills `times` for a rank that is done. What there is in it is written over.
  void fill(std::uint32_t rank, results::CpuTimes& times) const {
    const RankState& state = ranks_[local_[rank]];
    trails_->fill(state, state.finish - plan_.place.start, times);
    times.slowed = overlap_ && state.cpus > 0 ? overlap_->lost_by(state.first_cpu) : Time();
  }
  void on_sent(const Message& message) override;
  void on_delivered(const Message& message) override;
  void on_event(const Event& event) override;
  void expect(const Event& event, int look) const override;
  void expect(const Message& message, int look) const override;

  // REQUIRES: the event is the end of the time of a cpu's work. Is that not over, for collectives slowed it
  // down?
  bool goes_on(const Event& event) const {
    return cpu_work_.is_slowed(ranks_[local_[event.source - first_entity_]], event.payload);
  }

  std::uint64_t executed_ops() const { return progress_.executed(); }
  // Has every operation finished, and was every message received?
  bool complete() const { return progress_.have_all_finished() && unreceived() == 0; }
  bool done() const { return progress_.have_all_finished() && progress_.have_all_begun(); }
  bool at_rest() const;
  std::uint32_t events_of(std::uint32_t rank) const { return ranks_[local_[rank]].scheduled; }
  // What its ranks have called on a communicator so far. REQUIRES: the program has collectives.
  const CallSums::Sum& calls_on(std::uint32_t comm) const { return collectives_.calls_on(comm); }
  // Messages that have arrived and that no receive took.
  std::uint64_t unreceived() const { return user_messages().unreceived() + early().size(); }
  // Both know this share's ranks only.
  ReplayTotals totals() const;
  results::Rank result(std::uint32_t rank) const;
  // Bytes held for what is under way, and 4 for each operation of a graph, which is not counted, nor the
  // plan. Of a packed file with the operations that are at hand, but without its blocks.
  std::uint64_t memory_bytes() const;
  Time finish(std::uint32_t rank) const { return ranks_[local_[rank]].finish; }

  // For those that watch it, or tell why it stopped short.
  const ReplayPlan& plan() const { return plan_; }
  Time now() const { return engine_.now(); }
  const LargeVector<RankState>& ranks() const { return ranks_; }
  // The number here of the rank that an event is of.
  std::uint32_t local_of(const Event& event) const { return local_[event.source - first_entity_]; }
  const Progress& progress() const { return progress_; }
  const Cpus& cpus() const { return cpus_; }
  const RankWork& work() const { return work_; }
  const ReplayTasks& tasks() const { return tasks_; }
  const OpenCollectives& collectives() const { return open_; }
  const EarlyMessages& early() const { return collectives_.early(); }
  const UserMessages& user_messages() const { return point_to_point_.messages(); }

 private:
  static constexpr std::uint32_t kNone = RankState::kNone;

  std::uint32_t local_of(const RankState& rank) const {
    return static_cast<std::uint32_t>(&rank - ranks_.data());
  }
  void begin_rank(RankState& rank);
  void on_rare_event(RankState& rank, const Event& event);

  // Readiness.
  void drain();
  void begin(const Progress::Ready& ready);
  void post(RankState& rank, goal::OpIndex receive);
  void arrive(const Message& message);

  const ReplayPlan& plan_;
  const goal::ProgramFacts& program_;
  const HostConfig& hosts_;
  const std::uint32_t* local_;  // of each rank of the program
  const EntityId first_entity_;
  Engine& engine_;
  std::unique_ptr<Trails> trails_;    // null: nobody asks what its time consists of
  std::unique_ptr<Overlap> overlap_;  // null: collectives slow nothing down

  LargeVector<RankState> ranks_;
  Progress progress_;
  Cpus cpus_;
  RankWork work_;
  ReplayTasks tasks_;
  OpenCollectives open_;
  HeldMessages held_;
  Departures departures_;
  Handshakes handshakes_;
  PointToPoint point_to_point_;
  Collectives collectives_;
  CpuWork cpu_work_;
};

}  // namespace weft::sim
