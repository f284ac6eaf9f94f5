#include "goal/transform/extrapolate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "goal/transform/copy.h"
#include "goal/transform/grid.h"
#include "goal/transform/recognize.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kMostReach = 2;

bool is_message(const Op& op) { return op.kind == OpKind::kSend || op.kind == OpKind::kRecv; }

[[noreturn]] void refuse(const std::string& reason) { throw InputError("extrapolate: " + reason); }

// Refuses communicators and collectives whose growth is anybody's guess.
void require_regular(const Graph& graph) {
  for (std::uint32_t c = 1; c < graph.communicators().size(); ++c) {
    bool all = graph.communicator_size(c) == graph.ranks();
    for (Rank r = 0; all && r < graph.ranks(); ++r) all = graph.world_rank(c, r) == r;
    if (!all) {
      refuse("communicator " + std::to_string(c) + " '" + graph.communicators()[c].name +
             "' holds some of the ranks only, and how it would grow can't be told");
    }
  }
  for (const Collective& collective : graph.collectives()) {
    if (is_of_neighbors(collective.kind)) {
      refuse("a collective (" + std::string(name(collective.kind)) +
             ") names its ranks' neighbors; spell it out");
    }
    for (const std::vector<std::uint64_t>* counts : {&collective.counts, &collective.receive_counts}) {
      if (std::adjacent_find(counts->begin(), counts->end(), std::not_equal_to<>()) != counts->end()) {
        refuse("a collective (" + std::string(name(collective.kind)) + ") has blocks of unequal sizes");
      }
    }
  }
}

class Extrapolator {
 public:
  Extrapolator(const Graph& graph, const ExtrapolateOptions& options) : graph_(graph), options_(options) {
    for (Rank r = 0; r < graph.ranks(); ++r) {
      for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) has_messages_ |= is_message(graph.rank(r).op(i));
    }
  }

  Graph run(std::string* pattern, std::vector<Anomaly>* anomalies) {
    find_grid();
    find_new_grid();
    if (!confirmed_ && anomalies != nullptr) {
      anomalies->push_back(
          {"grid_unconfirmed", Severity::kWarning,
           "No two ranks lie alike, so nothing in the program shows that ranks that do would do "
           "alike; a trace of more ranks could.",
           1});
    }
    if (pattern != nullptr) {
      *pattern = has_messages_ ? "messages on a " + grid_.text() : "the same on all ranks";
      if (has_messages_) *pattern += ", made a " + new_grid_.text();
    }
    return build();
  }

 private:
  void find_grid() {
    const std::size_t most_dims = has_messages_ ? 3 : 1;
    for (std::size_t count = 1; count <= most_dims; ++count) {
      for (std::uint32_t reach = has_messages_ ? 1 : 0; reach <= kMostReach; ++reach) {
        for (const std::vector<std::uint32_t>& dims : factorizations(graph_.ranks(), count)) {
          for (std::uint32_t open = 0; open < 1u << count; ++open) {
            grid_ = {dims, std::vector<bool>(count), reach};
            for (std::size_t d = 0; d < count; ++d) grid_.periodic[d] = (open >> d & 1) == 0;
            if (fits()) return;
          }
        }
      }
    }
    refuse("the ranks' messages make no line, ring, grid or torus on which all do alike; " + nearest_);
  }

  bool fits() {
    bool grows = false;
    for (std::size_t d = 0; d < grid_.dims.size(); ++d) {
      grows |= grid_.can_grow(d);
      const bool room = grid_.can_grow(d) || (!grid_.periodic[d] && grid_.dims[d] == 2 * grid_.reach);
      if (!room) return false;
    }
    if (!grows) return false;
    confirmed_ = false;
    std::vector<Rank> first;  // of each role
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const std::uint32_t role = grid_.role(r);
      if (first.size() <= role) first.resize(role + 1, kAny);
      if (first[role] == kAny) first[role] = r;
      confirmed_ |= first[role] != r;
      const OpIndex same = count_alike(first[role], r);
      if (same == graph_.rank(r).ops() && same == graph_.rank(first[role]).ops()) continue;
      if (r >= nearest_rank_) {
        nearest_rank_ = r;
        nearest_ = "on a " + grid_.text() + ", rank " + std::to_string(r) + " differs from rank " +
                   std::to_string(first[role]) + " from operation " + std::to_string(same) + " on";
      }
      return false;
    }
    return true;
  }

  // How many operations two ranks have in common from the first on, but for compute times.
  OpIndex count_alike(Rank a, Rank b) const {
    const RankView one = graph_.rank(a), other = graph_.rank(b);
    const OpIndex most = std::min(one.ops(), other.ops());
    for (OpIndex i = 0; i < most; ++i) {
      Op x = one.op(i), y = other.op(i);
      if (x.kind == OpKind::kCalc) x.value = y.value;
      if (is_message(x) && is_message(y) && x.peer != kAny && y.peer != kAny) {
        RankGrid::Place from_a{}, from_b{};
        if (!grid_.offset(a, x.peer, from_a) || !grid_.offset(b, y.peer, from_b) || from_a != from_b)
          return i;
        x.peer = y.peer;
      }
      if (x != y || !std::ranges::equal(one.dependents(i), other.dependents(i))) return i;
    }
    return most;
  }

  void find_new_grid() {
    new_grid_ = grid_;
    if (!options_.dims.empty()) {
      if (options_.dims.size() != grid_.dims.size()) {
        refuse("the program lies on a " + grid_.text() + "; as many dimensions must be given");
      }
      if (!shape_works(options_.dims)) refuse("a " + grid_.text() + " can't be made that large or small");
      new_grid_.dims = options_.dims;
      return;
    }
    std::optional<double> best;
    for (const std::vector<std::uint32_t>& dims : factorizations(options_.ranks, grid_.dims.size())) {
      if (!shape_works(dims)) continue;
      double least = 1e300, most = 0;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const double growth = static_cast<double>(dims[d]) / grid_.dims[d];
        least = std::min(least, growth);
        most = std::max(most, growth);
      }
      if (best && most / least >= *best) continue;
      best = most / least;
      new_grid_.dims = dims;
    }
    if (!best) {
      refuse(std::to_string(options_.ranks) + " ranks can't be laid out like the program's " + grid_.text());
    }
  }

  bool shape_works(const std::vector<std::uint32_t>& dims) const {
    std::uint64_t product = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      product *= dims[d];
      if (product > options_.ranks) return false;
      const bool enough = dims[d] >= (grid_.periodic[d] ? 2 * grid_.reach + 1 : 2 * grid_.reach);
      if (dims[d] != grid_.dims[d] && (!grid_.can_grow(d) || !enough)) return false;
    }
    return product == options_.ranks;
  }

  Graph build() const {
    GraphBuilder builder;
    for (std::uint32_t c = 1; c < graph_.communicators().size(); ++c) {
      add_own_communicator(builder, {graph_.communicators()[c].name, {}}, c);
    }
    std::vector<Collective> collectives = graph_.collectives();
    for (Collective& collective : collectives) {
      if (collective.root >= options_.ranks) {
        refuse("the root of a collective, rank " + std::to_string(collective.root) + ", would be left out");
      }
      for (std::vector<std::uint64_t>* counts : {&collective.counts, &collective.receive_counts}) {
        if (!counts->empty()) counts->assign(options_.ranks, counts->front());
      }
    }
    for (Rank r = 0; r < options_.ranks; ++r) {
      const Rank model = grid_.model(new_grid_, r);
      copy_rank(graph_.rank(model), collectives, builder, [&](OpIndex, Op& op) {
        if (!is_message(op) || op.peer == kAny) return;
        RankGrid::Place offset{};
        grid_.offset(model, op.peer, offset);
        op.peer = new_grid_.neighbour(r, offset);
      });
    }
    return builder.finish();
  }

  const Graph& graph_;
  const ExtrapolateOptions& options_;
  bool has_messages_ = false;
  bool confirmed_ = false;  // do two ranks lie alike?
  RankGrid grid_, new_grid_;
  std::string nearest_ = "there are too few ranks to tell";
  Rank nearest_rank_ = 0;
};

}  // namespace

Graph extrapolate(const Graph& graph, const ExtrapolateOptions& options, std::string* pattern,
                  std::vector<Anomaly>* anomalies) {
  if (graph.ranks() < 2 || options.ranks < 2) refuse("there must be at least 2 ranks, before and after");
  const Graph recognized = recognize_collectives(graph, anomalies);
  require_regular(recognized);
  return Extrapolator(recognized, options).run(pattern, anomalies);
}

}  // namespace weft::goal
