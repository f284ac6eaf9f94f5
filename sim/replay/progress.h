// How far the ranks of a share are in their graphs: what each operation still waits for, and what may begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "goal/program.h"
#include "sim/replay/program_window.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/ready_queue.h"
#include "sim/replay/replay_plan.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// Each operation has a word: its unmet dependencies; then, while it waits to be matched or for its cpu, the
// next in that queue, which is for others to write; kFinished in the end.
class Progress {
 public:
  static constexpr std::uint32_t kFinished = ProgramWindow::kFinished, kNone = RankState::kNone;
  // An operation that may begin, or (lane != kNone) a group of a collective.
  struct Ready {
    RankState* rank;
    std::uint32_t op, lane;
  };

  // The ranks are filled in before open(), and then stay where they are.
  Progress(const ReplayPlan& plan, LargeVector<RankState>& ranks) : plan_(plan), ranks_(ranks) {}

  // Gives all ranks their operations: in a graph, or in a packed file that is read while it is replayed.
  void open();
  void begin_rank(RankState& rank);
  // Those that wait for the start of the operation. It may move operations of the rank.
  void start(RankState& rank, goal::OpIndex op) {
    if (rank.view.has_start_edges(op)) [[unlikely]]
      release_waiting_for_start(rank, op);
  }
  // It has finished, and so have those that wait for that one dependency less.
  void finish(RankState& rank, goal::OpIndex op) {
    rank.words[op] = kFinished;
    ++rank.ops_done;
    ++executed_;
    release<false>(rank, op);
  }

  bool has_ready() const { return !ready_.empty(); }
  // REQUIRES: has_ready().
  Ready next_ready() { return ready_.pop(); }
  void add_group(RankState& rank, std::uint32_t lane) { ready_.push({&rank, 0, lane}); }

  std::uint64_t ops() const { return ops_; }
  std::uint64_t executed() const { return executed_; }
  bool have_all_finished() const { return executed_ == ops_; }
  bool have_all_begun() const { return begun_ == ranks_.size(); }
  // In the order of the program; the rank's number of operations if all have finished.
  goal::OpIndex first_unfinished(std::uint32_t local) const;
  std::uint64_t memory_bytes() const;

 private:
  std::uint32_t local_of(const RankState& rank) const {
    return static_cast<std::uint32_t>(&rank - ranks_.data());
  }
  template <bool kOnStart>
  void release(RankState& rank, goal::OpIndex op) {
    if (rank.view.has_far_edges(op)) [[unlikely]]
      return release_far(local_of(rank), op, kOnStart);
    std::uint32_t* const words = rank.words;
    for (const goal::Edge edge : rank.view.dependents(op)) {
      if (edge.on_start() == kOnStart && --words[edge.dependent()] == 0) {
        ready_.push({&rank, edge.dependent(), kNone});
      }
    }
  }
  void release_waiting_for_start(RankState& rank, goal::OpIndex op);
  void release_far(std::uint32_t local, goal::OpIndex op, bool on_start);
  void view_graph(const goal::Graph& graph);
  void open_windows(const goal::PackedProgram& program);
  void look_through_window(std::uint32_t local);
  goal::OpIndex load_start(std::uint32_t local);

  const ReplayPlan& plan_;
  LargeVector<RankState>& ranks_;
  std::uint64_t ops_ = 0, executed_ = 0;
  std::size_t begun_ = 0;               // ranks
  LargeVector<std::uint32_t> words_;    // of a graph; those of a packed file are in its windows
  std::vector<ProgramWindow> windows_;  // of each rank; none for a graph
  std::unique_ptr<goal::PackedFile> file_;
  goal::OpBlock block_;  // where it is read to
  ReadyQueue<Ready> ready_;
};

}  // namespace weft::sim
