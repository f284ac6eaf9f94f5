#include "goal/transform/layout.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace weft::goal {
namespace {

constexpr std::uint32_t kMostReach = 2;
constexpr std::size_t kMostDims = 3;

bool is_message(const Op& op) { return op.kind == OpKind::kSend || op.kind == OpKind::kRecv; }

bool uniform(const std::vector<std::uint64_t>& counts) {
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

}  // namespace

LayoutFinder::LayoutFinder(const Graph& graph)
    : graph_(graph), calls_(graph.ranks()), messages_(graph.ranks(), 0) {
  std::set<std::pair<Rank, Rank>> partners;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    std::pair<Rank, Rank> last{kAny, kAny};
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCalc) continue;
      calls_[r].push_back(i);
      if (!is_message(rank.op(i))) continue;
      has_messages_ = true;
      ++messages_[r];
      const std::pair<Rank, Rank> pair(r, rank.peer(i));
      if (pair.second != kAny && pair != last) partners.insert(pair);
      last = pair;
    }
  }
  partners_.assign(partners.begin(), partners.end());
  list_candidates();
}

void LayoutFinder::list_candidates() {
  for (std::size_t count = 1; count <= kMostDims; ++count) {
    for (const std::vector<std::uint32_t>& dims : factorizations(graph_.ranks(), count)) add_candidates(dims);
  }
  std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.roles, a.fixed, a.grid.dims.size(), a.reach) <
           std::tuple(b.roles, b.fixed, b.grid.dims.size(), b.reach);
  });
}

// One for each way to choose the axes and how far messages reach along them.
void LayoutFinder::add_candidates(const std::vector<std::uint32_t>& dims) {
  std::vector<Candidate> all(1);
  all[0].grid.dims = dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::vector<Candidate> longer;
    for (const Candidate& candidate : all) {
      for (const Axis axis : {Axis::kRing, Axis::kRooted, Axis::kLine, Axis::kFixed}) {
        const bool fixed = axis == Axis::kFixed;
        for (std::uint32_t reach = axis == Axis::kLine ? 1 : 0; reach <= (fixed ? 0 : kMostReach); ++reach) {
          Candidate next = candidate;
          next.grid.axes.push_back(axis);
          next.grid.reach.push_back(reach);
          if (!fixed && !next.grid.can_grow(d)) break;
          next.roles *= fixed                   ? dims[d]
                        : axis == Axis::kLine   ? 2 * std::size_t{reach} + 1
                        : axis == Axis::kRooted ? 2
                                                : 1;
          next.fixed += fixed ? 1 : 0;
          next.reach += reach;
          longer.push_back(std::move(next));
        }
      }
    }
    all = std::move(longer);
  }
  for (Candidate& candidate : all) {
    if (candidate.fixed < dims.size()) candidates_.push_back(std::move(candidate));
  }
}

bool LayoutFinder::within_reach(const RankGrid& grid) {
  RankGrid::Place offset{};
  const auto far = [&](const std::pair<Rank, Rank>& pair) {
    return !grid.offset(pair.first, pair.second, offset);
  };
  const auto first = std::find_if(partners_.begin(), partners_.end(), far);
  if (first == partners_.end()) return true;
  if (nearest_rank_ >= 0) return false;
  // The nearest of those that fail here is the one with the fewest pairs too far apart.
  std::size_t pairs = 0;
  for (auto pair = first; pair != partners_.end() && (nearest_pairs_ == 0 || pairs < nearest_pairs_);
       ++pair) {
    pairs += far(*pair) ? 1 : 0;
  }
  if (nearest_pairs_ != 0 && pairs >= nearest_pairs_) return false;
  nearest_rank_ = -1;
  nearest_pairs_ = pairs;
  nearest_ = "on a " + grid.text() + ", rank " + std::to_string(first->first) +
             " exchanges messages with rank " + std::to_string(first->second) + ", which is more than " +
             std::to_string(kMostReach) + " places away";
  return false;
}

const CommunicatorShapes& LayoutFinder::shapes_of(Candidate& candidate) {
  if (candidate.shapes != nullptr) return *candidate.shapes;
  candidate.shapes = std::make_shared<const CommunicatorShapes>(graph_, candidate.grid);
  if (!candidate.shapes->complete() && nearest_rank_ < 0) {
    nearest_rank_ = -1;
    nearest_ = "on a " + candidate.grid.text() + ", " + candidate.shapes->failure();
  }
  return *candidate.shapes;
}

std::unique_ptr<Layout> LayoutFinder::find(const std::function<bool(const RankGrid&)>& serves) {
  std::vector<Candidate*> open;
  for (Candidate& candidate : candidates_) {
    if (serves(candidate.grid) && within_reach(candidate.grid)) open.push_back(&candidate);
  }
  for (const bool confirmed : {true, false}) {
    for (const Likeness likeness : {Likeness::kSizes, Likeness::kOrder, Likeness::kLoose}) {
      for (Candidate* candidate : open) {
        if ((candidate->roles < graph_.ranks()) != confirmed) continue;
        const CommunicatorShapes& shapes = shapes_of(*candidate);
        if (!shapes.complete() || !fits(*candidate, shapes, likeness)) continue;
        return layout_of(*candidate, confirmed, likeness);
      }
    }
  }
  return nullptr;
}

std::unique_ptr<Layout> LayoutFinder::layout_of(const Candidate& candidate, bool confirmed,
                                                Likeness likeness) const {
  auto layout = std::make_unique<Layout>();
  layout->grid = candidate.grid;
  layout->shapes = candidate.shapes;
  layout->confirmed = confirmed;
  layout->loose = likeness == Likeness::kLoose;
  count_variation(*layout);
  return layout;
}

bool LayoutFinder::fits(const Candidate& candidate, const CommunicatorShapes& shapes, Likeness likeness) {
  const RankGrid& grid = candidate.grid;
  std::unordered_map<std::uint64_t, Rank> first;  // of each role
  for (Rank r = 0; r < graph_.ranks(); ++r) {
    const Rank other = first.try_emplace(grid.role(r), r).first->second;
    std::uint64_t missing = 0;
    const std::size_t same = likeness == Likeness::kLoose
                                 ? count_loosely_alike(other, r, grid, shapes, missing)
                                 : count_alike(other, r, grid, shapes, likeness == Likeness::kSizes);
    const bool few = static_cast<double>(missing) <= kMostMissing * static_cast<double>(messages_[r]);
    if (few && same >= std::max(calls_[r].size(), calls_[other].size())) continue;
    if (likeness == Likeness::kOrder && static_cast<std::int64_t>(r) >= nearest_rank_) {
      nearest_rank_ = r;
      const Rank longer = same < calls_[r].size() ? r : other;
      nearest_ = "on a " + grid.text() + ", rank " + std::to_string(r) + " differs from rank " +
                 std::to_string(other) + ", which lies alike, from operation " +
                 std::to_string(calls_[longer][same]) + " of rank " + std::to_string(longer) + " on";
    }
    return false;
  }
  return true;
}

// Adds the messages from call k of a rank to its next collective, and moves k there; false if one of them is
// out of reach.
bool LayoutFinder::add_segment(Rank r, std::size_t& k, int sign, const RankGrid& grid,
                               const CommunicatorShapes& shapes, Surplus& surplus) const {
  const RankView rank = graph_.rank(r);
  for (; k < calls_[r].size() && is_message(rank.op(calls_[r][k])); ++k) {
    const Op& op = rank.op(calls_[r][k]);
    RankGrid::Place offset{};
    if (op.peer == kAny || !grid.offset(r, op.peer, offset)) return false;
    const std::int64_t stream = std::int64_t{op.cpu} << 8 | op.nic;
    const std::int64_t kind =
        static_cast<std::int64_t>(OpKind(op.kind)) << 1 | (op.kind.synchronous() ? 1 : 0);
    surplus[{kind, stream, op.tag, shapes.number(op.comm), offset[0], offset[1], offset[2]}] += sign;
  }
  return true;
}

// As count_alike, of all or nothing: the collectives in their order, and how many messages between them only
// one of the two has.
std::size_t LayoutFinder::count_loosely_alike(Rank a, Rank b, const RankGrid& grid,
                                              const CommunicatorShapes& shapes,
                                              std::uint64_t& missing) const {
  const RankView one = graph_.rank(a), other = graph_.rank(b);
  std::size_t of_a = 0, of_b = 0;
  while (a != b) {
    Surplus surplus;
    if (!add_segment(a, of_a, 1, grid, shapes, surplus) || !add_segment(b, of_b, -1, grid, shapes, surplus)) {
      return 0;
    }
    for (const auto& [what, count] : surplus) missing += static_cast<std::uint64_t>(std::abs(count));
    const bool ends_a = of_a == calls_[a].size(), ends_b = of_b == calls_[b].size();
    if (ends_a && ends_b) break;
    if (ends_a || ends_b) return 0;
    if (!alike(a, one.op(calls_[a][of_a++]), b, other.op(calls_[b][of_b++]), grid, shapes, false)) return 0;
  }
  return std::max(calls_[a].size(), calls_[b].size());
}

// How many operations that are no calcs two ranks have in common, from the first on.
std::size_t LayoutFinder::count_alike(Rank a, Rank b, const RankGrid& grid, const CommunicatorShapes& shapes,
                                      bool equal_sizes) const {
  if (a == b) return calls_[a].size();
  const std::size_t most = std::min(calls_[a].size(), calls_[b].size());
  const RankView one = graph_.rank(a), other = graph_.rank(b);
  for (std::size_t k = 0; k < most; ++k) {
    if (!alike(a, one.op(calls_[a][k]), b, other.op(calls_[b][k]), grid, shapes, equal_sizes)) return k;
  }
  return most;
}

bool LayoutFinder::alike(Rank a, const Op& x, Rank b, const Op& y, const RankGrid& grid,
                         const CommunicatorShapes& shapes, bool equal_sizes) const {
  if (x.kind != y.kind || x.nic != y.nic || x.cpu != y.cpu || x.tag != y.tag) return false;
  if (x.comm != y.comm && shapes.number(x.comm) != shapes.number(y.comm)) return false;
  if (x.kind == OpKind::kCollective) {
    return alike(a, graph_.collectives()[x.peer], b, graph_.collectives()[y.peer], grid, equal_sizes);
  }
  if (equal_sizes && x.value != y.value) return false;
  if (x.peer == kAny || y.peer == kAny) return x.peer == y.peer;
  RankGrid::Place from_a{}, from_b{};
  return grid.offset(a, x.peer, from_a) && grid.offset(b, y.peer, from_b) && from_a == from_b;
}

bool LayoutFinder::alike(Rank a, const Collective& x, Rank b, const Collective& y, const RankGrid& grid,
                         bool equal_sizes) const {
  if (x.kind != y.kind || x.element_bytes != y.element_bytes || x.algorithm != y.algorithm) return false;
  if (x.of_v_form() != y.of_v_form() || (has_root(x.kind) && x.root != y.root)) return false;
  if (is_of_neighbors(x.kind)) {
    return x.bytes == y.bytes && x.counts == y.counts && x.receive_counts == y.receive_counts &&
           same_neighbors(a, x, b, y, grid);
  }
  if (!equal_sizes) return true;
  // In a gather or scatter, only the root may know what the others have.
  if (x.counts.empty() && y.counts.empty()) return x.bytes == y.bytes;
  for (const Collective* one : {&x, &y}) {
    if (!uniform(one->counts) || !uniform(one->receive_counts)) return false;
  }
  const auto block = [](const Collective& one) { return one.counts.empty() ? one.bytes : one.counts[0]; };
  return block(x) == block(y);
}

bool LayoutFinder::same_neighbors(Rank a, const Collective& x, Rank b, const Collective& y,
                                  const RankGrid& grid) const {
  const auto same = [&](const std::vector<std::uint32_t>& of_a, const std::vector<std::uint32_t>& of_b) {
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](auto one, auto other) {
      RankGrid::Place from_a{}, from_b{};
      return grid.offset(a, graph_.world_rank(x.comm, one), from_a) &&
             grid.offset(b, graph_.world_rank(y.comm, other), from_b) && from_a == from_b;
    });
  };
  return same(x.destinations, y.destinations) && same(x.sources, y.sources);
}

std::uint64_t LayoutFinder::size_of(const Op& op) const {
  if (op.kind != OpKind::kCollective) return op.value;
  const Collective& collective = graph_.collectives()[op.peer];
  std::uint64_t bytes = collective.bytes;
  for (const std::uint64_t count : collective.counts) bytes += count;
  return bytes;
}

bool LayoutFinder::same_dependencies(Rank a, Rank b) const {
  const RankView one = graph_.rank(a), other = graph_.rank(b);
  if (one.ops() != other.ops()) return false;
  for (OpIndex i = 0; i < one.ops(); ++i) {
    if (one.kind(i) != other.kind(i) || !std::ranges::equal(one.dependents(i), other.dependents(i))) {
      return false;
    }
  }
  return true;
}

void LayoutFinder::count_variation(Layout& layout) const {
  std::unordered_map<std::uint64_t, Rank> first;
  for (Rank r = 0; r < graph_.ranks(); ++r) {
    const Rank other = first.try_emplace(layout.grid.role(r), r).first->second;
    const RankView one = graph_.rank(other), rank = graph_.rank(r);
    layout.messages += messages_[r];
    if (layout.loose) count_loosely_alike(other, r, layout.grid, *layout.shapes, layout.messages_varied);
    for (std::size_t k = 0; k < std::min(calls_[r].size(), calls_[other].size()); ++k) {
      const Op &x = one.op(calls_[other][k]), &y = rank.op(calls_[r][k]);
      const std::uint64_t bytes = size_of(y);
      const bool same = alike(other, x, r, y, layout.grid, *layout.shapes, true);
      ++layout.sizes_compared;
      layout.bytes_compared += bytes;
      if (same) continue;
      ++layout.sizes_varied;
      layout.bytes_varied += bytes;
    }
    if (!same_dependencies(other, r)) ++layout.ranks_varied;
  }
}

}  // namespace weft::goal
