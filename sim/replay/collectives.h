// Collective operations of a share's ranks: their groups of steps, worked out when they are needed.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/call_sums.h"
#include "sim/replay/departures.h"
#include "sim/replay/early_messages.h"
#include "sim/replay/handshakes.h"
#include "sim/replay/held_messages.h"
#include "sim/replay/open_collectives.h"
#include "sim/replay/overlap.h"
#include "sim/replay/progress.h"
#include "sim/replay/rank_work.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/tasks.h"
#include "sim/replay/trails.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// What the rest of a share does for them.
struct CollectiveServices {
  LargeVector<RankState>& ranks;
  Progress& progress;
  ReplayTasks& tasks;
  RankWork& work;
  OpenCollectives& open;
  Handshakes& handshakes;
  HeldMessages& held;
  Departures& departures;
};

// A collective has lanes, which go from group to group on their own: the last message of one brings the steps
// of the next. Messages that a step sends one after the other are one task, a train; one that it receives is
// a task too.
class Collectives {
 public:
  Collectives(const ReplayPlan& plan, const Engine& engine, std::uint32_t ranks,
              const CollectiveServices& services)
      : plan_(plan),
        engine_(engine),
        early_(ranks),
        calls_(plan.program.facts().collectives.empty() ? 0 : plan.program.facts().communicators.size()),
        with_(services) {}
  void keep_trails(Trails& trails) { trails_ = &trails; }
  void slow_down(Overlap& overlap) { overlap_ = &overlap; }

  // An operation of the graph begins, or a group that Progress knows of.
  void begin(std::uint32_t local, goal::OpIndex op);
  void begin_group(std::uint32_t lane);
  // The lane's own processor has done its work.
  void end_work_of_lane(std::uint32_t lane);
  // An eager message or a request.
  void arrive(std::uint32_t local, const Message& message);

  // The cpu takes up a train, or has worked on the message that it is at: returns how long the next one
  // takes, zero if there is none that takes time.
  void begin_train(ReplayTask& train) { point_train(train); }
  Time end_of_message(std::uint32_t train);
  // The cpu has worked on a received message. Zero if it is not to be combined with local data. Or how long a
  // copy takes.
  Time combine_duration(const ReplayTask& receive) const;
  bool combines(const ReplayTask& receive) const { return with_.open.step(receive).step.combine > 0; }
  // A message of this step of the lane's present group has finished.
  void finish_message(std::uint32_t lane, std::uint32_t step) {
    if (with_.open.lane(lane).steps[step].step.in_turn) [[unlikely]]
      give_next_in_turn(lane, step);
    if (--with_.open.lane(lane).left == 0) next_group(lane);
  }

  const EarlyMessages& early() const { return early_; }
  // What its ranks have called so far. REQUIRES: the program has collectives.
  const CallSums::Sum& calls_on(std::uint32_t comm) const { return calls_.of(comm); }
  void expect(std::uint32_t local, const Message& message, int look) const;
  // Without the services.
  std::uint64_t memory_bytes() const {
    return early_.memory_bytes() + calls_.memory_bytes() + proxies_.capacity() * sizeof(Time);
  }

 private:
  static constexpr std::uint32_t kNone = RankState::kNone;

  // From group to group.
  void begin_lanes(std::uint32_t active);
  void next_group(std::uint32_t lane);
  bool expand(std::uint32_t lane);
  void begin_group_of_own_processor(std::uint32_t lane);
  Time work_of_lane(std::uint32_t lane, goal::StepKind kind) const;
  void schedule_lane(std::uint32_t lane, Time duration);
  void note_step(PathSteps::Place place, std::uint32_t index, std::uint32_t lane, Time duration);
  void finish_lane(std::uint32_t lane);
  void finish(std::uint32_t active);

  // Sends.
  void give_train(std::uint32_t lane, std::uint32_t step);
  void give_next_in_turn(std::uint32_t lane, std::uint32_t after);
  void give_copy(std::uint32_t lane, std::uint32_t step);
  bool asks_first(const ReplayTask& train) const;
  void point_train(ReplayTask& train);
  void send(const ReplayTask& train, std::uint32_t task);
  void hand_over(const ReplayTask& train, Message& message);
  bool same_node(const ActiveCollective& active, std::uint32_t peer) const;
  Time proxy_is_done(std::uint32_t local, Time each, std::uint32_t bundle);

  // Receives.
  void begin_receives(std::uint32_t lane, std::uint32_t step);
  void matched(OpenCollectives::Place place, const ArrivedMessage& message);

  RankState& rank_of(std::uint32_t lane) { return with_.ranks[with_.open.of_lane(lane).local]; }
  std::uint8_t nic_of(const ActiveCollective& active) const {
    return with_.ranks[active.local].view.nic(active.op);
  }

  const ReplayPlan& plan_;
  const Engine& engine_;
  EarlyMessages early_;
  CallSums calls_;
  std::vector<Time> proxies_;   // when the thread of each rank is free that hands on messages between nodes
  goal::Group group_;           // where algorithms write
  Trails* trails_ = nullptr;    // null: nobody asks what the time of a run consists of
  Overlap* overlap_ = nullptr;  // null: they slow nothing down
  CollectiveServices with_;
};

}  // namespace weft::sim
