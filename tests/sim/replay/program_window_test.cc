#include "sim/replay/program_window.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "goal/pack/pack.h"

using namespace weft;
using namespace weft::sim;

namespace {

// One rank whose dependencies mostly reach back a little, some far, some forward.
goal::Graph random_rank(std::mt19937_64& random, goal::OpIndex ops, bool forward) {
  goal::GraphBuilder builder;
  for (goal::OpIndex i = 0; i < ops; ++i) builder.add_calc(random() % 3);
  std::vector<goal::OpIndex> order(ops);  // of a run that is possible
  for (goal::OpIndex i = 0; i < ops; ++i) order[i] = i;
  for (std::uint64_t n = forward ? random() % 20 : 0; n > 0; --n) {
    std::swap(order[random() % ops], order[random() % ops]);
  }
  for (goal::OpIndex i = 1; i < ops; ++i) {
    for (std::uint64_t n = random() % 500 == 0 ? 0 : 1 + random() % 2; n > 0; --n) {
      const std::uint64_t reach = random() % 10 == 0 ? i : std::min<goal::OpIndex>(i, 6);
      builder.add_edge(order[i - 1 - random() % reach], order[i], random() % 4 == 0);
    }
  }
  builder.end_rank();
  return builder.finish();
}

// Runs a rank in a random order, as a replay would through its window, and compares with the graph.
class Run {
 public:
  Run(const goal::Graph& graph, goal::PackedFile& file, const goal::PackedProgram& packed)
      : view_(graph.rank(0)),
        window_(file.rank(0), packed.outline(0)),
        unmet_(view_.dependency_counts()),
        has_finished_(view_.ops()) {
    while (window_.is_due_at_start()) window_.load(0, block_);
    for (goal::OpIndex i = 0; i < view_.ops(); ++i) {
      if (unmet_[i] != 0) continue;
      become_ready(i);
    }
  }

  // Returns how many operations ran.
  goal::OpIndex run(std::mt19937_64& random) {
    goal::OpIndex ran = 0;
    while (!ready_.empty()) {
      std::swap(ready_[random() % ready_.size()], ready_.back());
      const goal::OpIndex op = ready_.back();
      ready_.pop_back();
      CHECK_FALSE(window_.view().op(op) != view_.op(op));
      release(op, true);
      window_.words()[op] = ProgramWindow::kFinished;
      has_finished_[op] = true;
      release(op, false);
      ++ran;
      widest_ = std::max(widest_, window_.end() - window_.begin());
    }
    return ran;
  }
  goal::OpIndex widest() const { return widest_; }
  goal::OpIndex first_unfinished() const { return window_.first_unfinished(); }

 private:
  // An operation that is ready by the graph must be so in the window.
  void become_ready(goal::OpIndex op) {
    REQUIRE(op >= window_.begin());
    REQUIRE(op < window_.end());
    REQUIRE(window_.words()[op] == 0);
    ready_.push_back(op);
  }
  void release(goal::OpIndex op, bool on_start) {
    while (window_.view().has_far_edges(op) && window_.is_due(op)) window_.load(op, block_);
    // What is gone must have finished.
    for (goal::OpIndex i = checked_; i < window_.begin(); ++i) REQUIRE(has_finished_[i]);
    checked_ = window_.begin();
    const auto here = window_.view().dependents(op), there = view_.dependents(op);
    REQUIRE(std::equal(here.begin(), here.end(), there.begin(), there.end()));
    for (const goal::Edge edge : here) {
      if (edge.on_start() != on_start) continue;
      if (edge.dependent() >= window_.end()) {
        REQUIRE(window_.view().has_far_edges(op));
        --window_.waits_to_come(edge.dependent());
      } else {
        --window_.words()[edge.dependent()];
      }
      if (--unmet_[edge.dependent()] == 0) become_ready(edge.dependent());
    }
  }

  goal::RankView view_;
  ProgramWindow window_;
  goal::OpBlock block_;
  std::vector<std::uint32_t> unmet_;  // by the graph
  std::vector<bool> has_finished_;
  std::vector<goal::OpIndex> ready_;
  goal::OpIndex checked_ = 0, widest_ = 0;
};

}  // namespace

TEST_CASE("every operation is there when it becomes ready, in any order of events") {
  std::mt19937_64 random(1);
  std::uint64_t narrow = 0;
  for (int round = 0; round < 400; ++round) {
    const auto ops = static_cast<goal::OpIndex>(1 + random() % 300);
    const goal::Graph graph = random_rank(random, ops, round % 2 == 0);
    const std::string bytes = goal::to_pack(graph, {});
    const goal::PackedProgram packed(bytes, "packed", static_cast<goal::OpIndex>(1 + random() % 20));
    const std::unique_ptr<goal::PackedFile> file = packed.open(1);
    Run run(graph, *file, packed);
    REQUIRE(run.run(random) == ops);
    CHECK(run.first_unfinished() == ops);
    narrow += run.widest() < ops;
  }
  CHECK(narrow > 50);  // else it was all loaded at once
}

TEST_CASE("a chain is seen through a window of a block or two") {
  goal::GraphBuilder builder;
  for (goal::OpIndex i = 0; i < 10'000; ++i) {
    builder.add_calc(1);
    if (i > 0) builder.add_edge(i - 1, i);
  }
  builder.end_rank();
  const goal::Graph graph = builder.finish();
  const std::string bytes = goal::to_pack(graph, {});
  const goal::PackedProgram packed(bytes, "packed", 50);
  const std::unique_ptr<goal::PackedFile> file = packed.open(1);
  Run run(graph, *file, packed);
  std::mt19937_64 random(1);
  CHECK(run.run(random) == 10'000);
  CHECK(run.widest() <= 2 * packed.outline(0).block);
}

TEST_CASE("an operation that stays does not make the window slow or the rest wait") {
  // Number 0 has a dependent at the very end, and 1 lasts until all others have finished: it keeps them.
  goal::GraphBuilder builder;
  constexpr goal::OpIndex kOps = 3'000;
  for (goal::OpIndex i = 0; i < kOps; ++i) builder.add_calc(1);
  builder.add_edge(0, 1);
  builder.add_edge(0, 2);
  for (goal::OpIndex i = 3; i < kOps; ++i) builder.add_edge(i - 1, i);
  builder.add_edge(0, kOps - 1);
  builder.end_rank();
  const goal::Graph graph = builder.finish();
  const std::string bytes = goal::to_pack(graph, {});
  const goal::PackedProgram packed(bytes, "packed", 10);
  const std::unique_ptr<goal::PackedFile> file = packed.open(1);
  goal::OpBlock block;
  ProgramWindow window(file->rank(0), packed.outline(0));
  while (window.is_due_at_start()) window.load(0, block);
  const goal::OpIndex length = packed.outline(0).block;
  CHECK(length >= 10);
  CHECK(window.end() == length);
  window.words()[0] = ProgramWindow::kFinished;
  --window.waits_to_come(kOps - 1);
  for (goal::OpIndex op = 2; op < kOps; ++op) {
    window.words()[op] = ProgramWindow::kFinished;
    while (window.is_due(op)) window.load(op, block);
    REQUIRE(op < window.end());
    REQUIRE(window.end() <= op + 1 + length);
    if (window.end() > op + 1) REQUIRE(window.words()[op + 1] <= 1);
  }
  CHECK(window.begin() == 1);
  CHECK(window.first_unfinished() == 1);
  CHECK(window.view().dependents(2).size() == 1);
  CHECK(window.memory_bytes() < 2 * kOps * (sizeof(goal::OpRecord) + 8));
}
