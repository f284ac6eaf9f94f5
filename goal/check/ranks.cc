// Checks that need one rank at a time: cycles, labels; and the way of collectives to theirs.
#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "goal/check/collectives.h"
#include "goal/check/recorder.h"

namespace weft::goal::checks {
namespace {

constexpr OpIndex kNone = 0xFFFFFFFFu;
constexpr std::size_t kMostShown = 6;
constexpr std::uint32_t kOpsAtOnce = 4096;

// The dependencies of one rank.
struct RankEdges {
  std::vector<std::uint64_t> begin{0};  // one more than operations
  std::vector<Edge> edges;

  OpIndex ops() const { return static_cast<OpIndex>(begin.size() - 1); }
  std::span<const Edge> dependents(OpIndex i) const {
    return {edges.data() + begin[i], edges.data() + begin[i + 1]};
  }
};

RankEdges read_edges(OpSource& source, Rank rank) {
  RankEdges result;
  OpBlock block;
  for (const auto cursor = source.open(rank); cursor->next(block, kOpsAtOnce);) {
    for (std::size_t k = 0; k < block.ops.size(); ++k) {
      const auto dependents = block.dependents(k);
      result.edges.insert(result.edges.end(), dependents.begin(), dependents.end());
      result.begin.push_back(result.edges.size());
    }
  }
  return result;
}

// The operations of one cycle, each followed by one that waits for it; empty if there is none. `irequires`
// counts like `requires`: an operation that must start before itself never starts either.
std::vector<OpIndex> find_cycle(const RankEdges& view) {
  // Take away what waits for nothing, again and again (A. B. Kahn, 1962); the rest lies on cycles or behind
  // them.
  std::vector<std::uint32_t> waits(view.ops(), 0);
  for (const Edge& edge : view.edges) ++waits[edge.dependent()];
  std::vector<OpIndex> ready;
  for (OpIndex i = 0; i < view.ops(); ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const OpIndex op = ready.back();
    ready.pop_back();
    for (const Edge& edge : view.dependents(op)) {
      if (--waits[edge.dependent()] == 0) ready.push_back(edge.dependent());
    }
  }
  // Everything left waits for something left: going back from there must come round.
  std::vector<OpIndex> before(view.ops(), kNone);
  OpIndex at = kNone;
  for (OpIndex i = 0; i < view.ops(); ++i) {
    if (waits[i] == 0) continue;
    at = at == kNone ? i : at;
    for (const Edge& edge : view.dependents(i)) before[edge.dependent()] = i;
  }
  if (at == kNone) return {};
  std::vector<bool> seen(view.ops(), false);
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::vector<OpIndex> cycle{at};
  for (OpIndex op = before[at]; op != at; op = before[op]) cycle.push_back(op);
  // Found from back to front; begin with the operation of the lowest index.
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

void check_cycle(Recorder& recorder, Rank rank) {
  const std::vector<OpIndex> cycle = find_cycle(read_edges(recorder.source(), rank));
  if (cycle.empty()) return;
  recorder.add(FindingKind::kCycle, 1, rank, cycle[0], [&] {
    std::string text = std::to_string(cycle.size()) + " operations wait for each other in a circle: ";
    if (cycle.size() == 1) text = "an operation waits for itself: ";
    for (std::size_t i = 0; i < cycle.size() && i < kMostShown; ++i) {
      text += (i == 0 ? "" : ", then ") + recorder.describe(rank, cycle[i]);
    }
    return text + (cycle.size() > kMostShown ? ", then others" : "");
  });
}

class RankCheck {
 public:
  RankCheck(Recorder& recorder, const CommunicatorPlaces& members)
      : recorder_(recorder), source_(recorder.source()), collectives_(recorder, members) {}

  void run() {
    for (Rank rank = 0; rank < source_.ranks(); ++rank) {
      if (!is_known_sound(rank)) check_rank(rank);
    }
    collectives_.finish();
  }

 private:
  // Nothing is left to see in a program without collectives that a rank before had, and that runs forward.
  bool is_known_sound(Rank rank) const {
    return !source_.has_labels(rank) && sound_.count(source_.program(rank)) != 0;
  }

  void check_rank(Rank rank) {
    labels_ = std::unordered_set<std::string>();  // clear() would take the time of the largest rank for each
    bool runs_forward = true, any_collective = false;
    for (const auto cursor = source_.open(rank); cursor->next(block_, kOpsAtOnce);) {
      for (std::uint32_t k = 0; k < block_.ops.size(); ++k) {
        const OpIndex index = block_.first + k;
        for (const Edge& edge : block_.dependents(k)) runs_forward &= edge.dependent() > index;
        if (block_.ops[k].kind == OpKind::kCollective) {
          collectives_.add(rank, index, block_.ops[k]);
          any_collective = true;
        }
      }
      if (!block_.labels.empty()) check_labels(rank);
    }
    collectives_.end_rank(rank);
    if (!runs_forward) check_cycle(recorder_, rank);
    const std::uint32_t program = source_.program(rank);
    if (program != kAny && runs_forward && !any_collective) sound_.insert(program);
  }

  void check_labels(Rank rank) {
    for (std::uint32_t k = 0; k < block_.ops.size(); ++k) {
      if (block_.labels[k].empty() || labels_.insert(block_.labels[k]).second) continue;
      const OpIndex index = block_.first + k;
      recorder_.add(FindingKind::kDuplicateLabel, 1, rank, index, [&] {
        return "the label of " + recorder_.describe(rank, index) + " names an earlier operation too";
      });
    }
  }

  Recorder& recorder_;
  OpSource& source_;
  CollectiveCheck collectives_;
  OpBlock block_;
  // Only asked, never walked.
  std::unordered_set<std::uint32_t> sound_;
  std::unordered_set<std::string> labels_;
};

}  // namespace

void check_ranks(Recorder& recorder, const CommunicatorPlaces& members) {
  RankCheck(recorder, members).run();
}

}  // namespace weft::goal::checks
