#include "sim/replay/progress.h"

namespace weft::sim {

void Progress::open() {
  for (const RankState& state : ranks_) ops_ += state.view.ops();
  const goal::Program& program = plan_.program;
  program.graph() != nullptr ? view_graph(*program.graph()) : open_windows(*program.packed());
}

void Progress::begin_rank(RankState& rank) {
  ++begun_;
  const goal::OpIndex end = windows_.empty() ? rank.view.ops() : load_start(local_of(rank));
  for (goal::OpIndex i = 0; i < end; ++i) {
    if (rank.words[i] == 0) ready_.push({&rank, i, kNone});
  }
}

[[gnu::noinline]] void Progress::release_waiting_for_start(RankState& rank, goal::OpIndex op) {
  release<true>(rank, op);
}

void Progress::view_graph(const goal::Graph& graph) {
  words_.reserve(ops_);
  for (RankState& state : ranks_) {
    const goal::RankView view = graph.rank(state.view.rank());
    state.view = view;
    state.words = words_.data() + words_.size();
    const std::vector<std::uint32_t> counts = view.dependency_counts();
    words_.insert(words_.end(), counts.begin(), counts.end());
  }
}

void Progress::open_windows(const goal::PackedProgram& program) {
  file_ = program.open(plan_.shares * plan_.place.replays);
  windows_.reserve(ranks_.size());
  for (const RankState& state : ranks_) {
    const std::uint32_t rank = state.view.rank();
    windows_.emplace_back(file_->rank(rank, {.labels = false}), program.outline(rank),
                          plan_.hosts.compute_scale);
  }
}

void Progress::look_through_window(std::uint32_t local) {
  ranks_[local].view = windows_[local].view();
  ranks_[local].words = windows_[local].words();
}

// Gets what can be ready at the start; returns where that ends.
goal::OpIndex Progress::load_start(std::uint32_t local) {
  ProgramWindow& window = windows_[local];
  while (window.is_due_at_start()) window.load(0, block_);
  look_through_window(local);
  return window.end();
}

// The operation starts or finishes, and some of those that wait for it may not be loaded. Gets all that could
// be ready after this, before the first of them is.
void Progress::release_far(std::uint32_t local, goal::OpIndex op, bool on_start) {
  ProgramWindow& window = windows_[local];
  if (window.is_due(op)) {
    do window.load(op, block_);
    while (window.is_due(op));
    look_through_window(local);
  }
  RankState& rank = ranks_[local];
  for (const goal::Edge edge : rank.view.dependents(op)) {
    if (edge.on_start() != on_start) continue;
    if (edge.dependent() >= window.end()) {
      --window.waits_to_come(edge.dependent());
    } else if (--rank.words[edge.dependent()] == 0) {
      ready_.push({&rank, edge.dependent(), kNone});
    }
  }
}

goal::OpIndex Progress::first_unfinished(std::uint32_t local) const {
  if (!windows_.empty()) return windows_[local].first_unfinished();
  const RankState& state = ranks_[local];
  goal::OpIndex first = 0;
  while (first < state.view.ops() && state.words[first] == kFinished) ++first;
  return first;
}

std::uint64_t Progress::memory_bytes() const {
  std::uint64_t bytes = words_.capacity() * sizeof(words_[0]) + ready_.memory_bytes();
  for (const ProgramWindow& window : windows_) bytes += window.memory_bytes();
  return bytes;
}

}  // namespace weft::sim
