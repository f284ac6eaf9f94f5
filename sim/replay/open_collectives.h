// The collective operations under way of a share's ranks, with the group that each of their lanes is at.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/graph/graph.h"
#include "goal/program.h"
#include "sim/core/random.h"
#include "sim/replay/matching.h"
#include "sim/replay/open_receives.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/tasks.h"

namespace weft::sim {

// On one rank.
struct ActiveCollective {
  static constexpr std::uint32_t kNone = RankState::kNone;
  goal::CollectiveCall call;
  const goal::ChosenAlgorithm* chosen = nullptr;
  std::uint32_t local = 0, op = 0;
  std::uint32_t number = 0, comm = 0;  // which collective it is on which communicator
  std::uint32_t first_lane = kNone, lanes = 0, lanes_left = 0;
  std::uint32_t lanes_of_channel = 0;  // 0: its messages take NICs as others do
  TimePerByte reduction, copy;         // cpu time to combine what is received, and to copy
  Time launched;                       // lanes with processors of their own send nothing before
  std::uint32_t next = kNone;          // of the same rank, or in the free list
};

struct OpenStep {
  goal::Step step;
  std::uint32_t left = 0;  // messages that were not handed over (send) or matched (receive) so far
  std::uint32_t next = 0;  // send: place of the next message among the step's peers
  bool is_send() const { return step.kind == goal::StepKind::kSend; }
  bool is_receive() const { return step.kind == goal::StepKind::kRecv; }
};

// The group that one lane of a collective is at.
struct CollectiveLane {
  static constexpr std::uint32_t kNone = RankState::kNone;
  std::vector<OpenStep> steps;  // those that have messages
  std::uint32_t active = kNone, number = 0;
  std::uint32_t groups = 0;    // begun so far; the steps are of the last of them
  std::uint32_t left = 0;      // messages that have not finished
  Time busy;                   // its own processor, before it sends the group's messages
  std::uint32_t next = kNone;  // of the same collective, or in the free list
};

// What a message of a collective says, and its receive.
struct StepKey {
  std::uint32_t rank = 0;              // local
  std::uint32_t source = 0;            // place in the communicator
  std::uint32_t number = 0, comm = 0;  // which collective it is on which communicator
  std::uint32_t tag = 0;               // of the step
  bool operator==(const StepKey&) const = default;
  std::uint64_t hash() const { return MatchKey{rank, source, tag, comm}.hash() + mix64(number); }
};

// Does the step send to, or receive from, this place of the communicator?
inline bool covers(const goal::Step& step, std::uint32_t place, std::uint32_t ranks) {
  const std::uint32_t there = step.down ? step.peer + ranks - place : place + ranks - step.peer;
  return (there >= ranks ? there - ranks : there) < step.count;
}

// Operations and lanes go by handles. References are good until the next add() or add_lanes().
class OpenCollectives {
 public:
  static constexpr std::uint32_t kNone = RankState::kNone;
  struct Place {
    std::uint32_t lane = kNone, step = 0;
  };

  ActiveCollective& operator[](std::uint32_t active) { return actives_[active]; }
  const ActiveCollective& operator[](std::uint32_t active) const { return actives_[active]; }
  CollectiveLane& lane(std::uint32_t lane) { return lanes_[lane]; }
  const CollectiveLane& lane(std::uint32_t lane) const { return lanes_[lane]; }
  const ActiveCollective& of_lane(std::uint32_t lane) const { return actives_[lanes_[lane].active]; }
  // REQUIRES: the task is of a lane.
  OpenStep& step(const ReplayTask& task) { return lanes_[task.lane].steps[task.op]; }
  const OpenStep& step(const ReplayTask& task) const { return lanes_[task.lane].steps[task.op]; }
  // The operation of the graph that a task is for.
  goal::OpIndex op_of(const ReplayTask& task) const {
    return task.lane == kNone ? task.op : of_lane(task.lane).op;
  }
  // Which says which of the rank's NICs its messages take; kNone: they take them as others do.
  std::uint32_t channel_of(const ReplayTask& task) const {
    if (task.lane == kNone) return kNone;
    const CollectiveLane& lane = lanes_[task.lane];
    const std::uint32_t lanes = actives_[lane.active].lanes_of_channel;
    return lanes == 0 ? kNone : lane.number / lanes;
  }

  // A collective begins, or has ended, at this rank.
  std::uint32_t add(RankState& rank, const ActiveCollective& active);
  void remove(RankState& rank, std::uint32_t active);
  // REQUIRES: it has none so far.
  void add_lanes(std::uint32_t active, std::uint32_t lanes);

  // The receives of a lane's present group can be found; or the group has ended.
  void open_group(std::uint32_t lane);
  void close_group(std::uint32_t lane);
  // The step that takes such a message; lane == kNone: there is none so far.
  Place receive_of(const RankState& rank, const StepKey& key) const;

  // Fetch into the cache a lane, and what receive_of() will look at. False: nothing there is waited for.
  void expect_lane(std::uint32_t lane, int look) const {
    if (look == 0) __builtin_prefetch(&lanes_[lane], 1);
    if (look == 1) __builtin_prefetch(lanes_[lane].steps.data(), 1);
  }
  bool expect(const RankState& rank, std::uint32_t tag, int look) const;
  std::uint64_t memory_bytes() const;

 private:
  // Where lanes are few, looking at them all is as fast.
  static bool is_indexed(const ActiveCollective& active) {
    constexpr std::uint32_t kManyLanes = 8;
    return active.lanes >= kManyLanes;
  }
  Place receive_in(std::uint32_t active, std::uint32_t source, std::uint32_t tag) const;
  std::uint32_t new_lane();

  std::vector<ActiveCollective> actives_;
  std::vector<CollectiveLane> lanes_;
  std::uint32_t free_active_ = kNone, free_lane_ = kNone;
  OpenReceives open_receives_;
};

}  // namespace weft::sim
