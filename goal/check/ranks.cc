// Checks that need one rank at a time: cycles and labels.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "goal/check/recorder.h"

namespace weft::goal::checks {
namespace {

constexpr OpIndex kNone = 0xFFFFFFFFu;
constexpr std::size_t kMostShown = 6;

bool runs_forward(const RankView& view) {
  for (OpIndex i = 0; i < view.ops(); ++i) {
    for (const Edge& edge : view.dependents(i)) {
      if (edge.dependent() <= i) return false;
    }
  }
  return true;
}

// The operations of one cycle, each followed by one that waits for it; empty if there is none. `irequires`
// counts like `requires`: an operation that must start before itself never starts either.
std::vector<OpIndex> find_cycle(const RankView& view) {
  if (runs_forward(view)) return {};
  // Take away what waits for nothing, again and again (A. B. Kahn, 1962); the rest lies on cycles or behind
  // them.
  std::vector<std::uint32_t> waits = view.dependency_counts();
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
  const std::vector<OpIndex> cycle = find_cycle(recorder.graph().rank(rank));
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

void check_labels(Recorder& recorder, Rank rank) {
  const RankView view = recorder.graph().rank(rank);
  std::unordered_set<std::string_view> labels;  // only asked, never walked
  for (OpIndex i = 0; i < view.ops(); ++i) {
    const std::string_view label = view.label(i);
    if (label.empty() || labels.insert(label).second) continue;
    recorder.add(FindingKind::kDuplicateLabel, 1, rank, i, [&] {
      return "the label of " + recorder.describe(rank, i) + " names an earlier operation too";
    });
  }
}

}  // namespace

void check_ranks(Recorder& recorder) {
  for (Rank rank = 0; rank < recorder.graph().ranks(); ++rank) {
    check_cycle(recorder, rank);
    check_labels(recorder, rank);
  }
}

}  // namespace weft::goal::checks
