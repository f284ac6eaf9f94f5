#include "goal/transform/slice.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "goal/transform/copy.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr OpIndex kDropped = 0xFFFFFFFFu;

bool uses_wildcards(const Graph& graph) {
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kRecv && rank.peer(i) == kAny) return true;
    }
  }
  return false;
}

class Slicer {
 public:
  Slicer(const Graph& graph, const SliceOptions& options)
      : graph_(graph),
        from_(options.from_ns.value_or(0)),
        to_(options.to_ns.value_or(kNever)),
        timed_(options.from_ns || options.to_ns),
        new_rank_(graph.ranks(), kAny),
        places_(graph) {
    if (from_ >= to_) {
      throw InputError("slice: the stretch from " + std::to_string(from_) + " ns to " + std::to_string(to_) +
                       " ns is empty");
    }
    if (options.ranks) {
      kept_ranks_ = options.ranks->ranks_as_named();
    } else {
      kept_ranks_.resize(graph.ranks());
      std::iota(kept_ranks_.begin(), kept_ranks_.end(), Rank{0});
    }
    for (Rank r = 0; r < kept_ranks_.size(); ++r) new_rank_[kept_ranks_[r]] = r;
    if (kept_ranks_.empty()) throw InputError("slice: no rank is left");
    if (timed_ || uses_wildcards(graph)) schedule_ = ideal_schedule(graph);
    if (timed_) require_complete(schedule_, "slice");
  }

  Graph run(std::vector<Anomaly>* anomalies) {
    cut_communicators();
    count_calls();
    for (const Rank r : kept_ranks_) add_rank(r);
    if (timed_ && kept_ops_ == 0) note_nothing(anomalies);
    if (anomalies != nullptr) report(*anomalies);
    return builder_.finish();
  }

 private:
  bool in_time(GlobalOp op) const {
    if (!timed_) return true;
    return schedule_.start_ns[op] < to_ &&
           (schedule_.start_ns[op] >= from_ || schedule_.finish_ns[op] > from_);
  }

  void cut_communicators() {
    new_comm_.assign(graph_.communicators().size(), kAny);
    new_comm_[kWorld] = kWorld;
    position_.resize(graph_.communicators().size());
    std::uint32_t next = 1;
    for (std::uint32_t c = 0; c < graph_.communicators().size(); ++c) {
      const Communicator& communicator = graph_.communicators()[c];
      Communicator cut{communicator.name, {}};
      for (std::uint32_t i = 0; i < graph_.communicator_size(c); ++i) {
        const Rank rank = new_rank_[graph_.world_rank(c, i)];
        if (rank == kAny) continue;
        position_[c].push_back(i);
        if (!communicator.ranks.empty()) cut.ranks.push_back(rank);
      }
      if (communicator.ranks.empty())
        position_[c] = kept_ranks_;                       // all ranks, in the order that they have now
      if (c == kWorld || position_[c].empty()) continue;  // an empty list of ranks would mean all
      new_comm_[c] = next;
      add_own_communicator(builder_, std::move(cut), next++);
    }
    for (Collective collective : graph_.collectives()) {
      const std::vector<std::uint32_t>& kept = position_[collective.comm];
      const auto root = std::find(kept.begin(), kept.end(), collective.root);
      collective.root = root == kept.end() ? 0 : static_cast<std::uint32_t>(root - kept.begin());
      if (is_of_neighbors(collective.kind)) {
        cut_neighbors(collective.destinations, collective.counts, kept);
        cut_neighbors(collective.sources, collective.receive_counts, kept);
      } else {
        cut_counts(collective.counts, kept);
        cut_counts(collective.receive_counts, kept);
      }
      collective.comm = new_comm_[collective.comm];
      collectives_.push_back(std::move(collective));
    }
  }
  static void cut_neighbors(std::vector<std::uint32_t>& ranks, std::vector<std::uint64_t>& counts,
                            const std::vector<std::uint32_t>& kept) {
    std::vector<std::uint32_t> left;
    std::vector<std::uint64_t> left_counts;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto found = std::find(kept.begin(), kept.end(), ranks[i]);
      if (found == kept.end()) continue;
      left.push_back(static_cast<std::uint32_t>(found - kept.begin()));
      if (!counts.empty()) left_counts.push_back(counts[i]);
    }
    ranks = std::move(left);
    counts = std::move(left_counts);
  }
  static void cut_counts(std::vector<std::uint64_t>& counts, const std::vector<std::uint32_t>& kept) {
    if (counts.empty()) return;
    std::vector<std::uint64_t> left;
    for (const std::uint32_t position : kept) {
      if (position < counts.size()) left.push_back(counts[position]);
    }
    counts = std::move(left);
  }

  // How many of the remaining members call each collective within the stretch.
  void count_calls() {
    if (!timed_) return;
    for (const Rank r : kept_ranks_) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (rank.kind(i) == OpKind::kCollective && in_time(places_.global(r, i))) ++calls_[call_key(rank, i)];
      }
    }
  }
  static std::uint64_t call_key(const RankView& rank, OpIndex i) {
    return std::uint64_t{rank.comm(i)} << 32 | rank.tag(i);
  }

  void add_rank(Rank r) {
    const RankView rank = graph_.rank(r);
    std::vector<OpIndex> new_op(rank.ops(), kDropped);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (!in_time(places_.global(r, i))) continue;
      new_op[i] = add_op(r, rank, i);
      ++kept_ops_;
    }
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (new_op[i] == kDropped) continue;
      for (const Edge& edge : rank.dependents(i)) {
        if (new_op[edge.dependent()] == kDropped) continue;
        builder_.add_edge(new_op[i], new_op[edge.dependent()], edge.on_start());
      }
    }
    builder_.end_rank();
  }

  OpIndex add_op(Rank r, const RankView& rank, OpIndex i) {
    Op op = rank.op(i);
    const Op nothing{.kind = OpKind::kCalc, .cpu = op.cpu};
    switch (op.kind) {
      case OpKind::kCalc: {
        if (!timed_) break;
        const GlobalOp global = places_.global(r, i);
        const std::uint64_t begin = std::max(schedule_.start_ns[global], from_);
        const std::uint64_t left = std::min(schedule_.finish_ns[global], to_) - begin;
        cut_calcs_ += left != op.value;
        op.value = left;
        break;
      }
      case OpKind::kSend:
      case OpKind::kRecv:
        if (!partner_stays(r, i, op)) {
          ++(op.kind == OpKind::kSend ? cut_sends_ : cut_receives_);
          op = nothing;
          break;
        }
        if (op.peer != kAny) op.peer = new_rank_[op.peer];
        op.comm = new_comm_[op.comm];
        break;
      case OpKind::kCollective: {
        const Collective& collective = rank.collective(i);
        const std::vector<std::uint32_t>& members = position_[op.comm];
        if (timed_ && calls_[call_key(rank, i)] != members.size()) {
          ++cut_collectives_;
          op = nothing;
          break;
        }
        shrunk_collectives_ += members.size() != graph_.communicator_size(op.comm);
        moved_roots_ +=
            has_root(collective.kind) && !std::binary_search(members.begin(), members.end(), collective.root);
        break;
      }
    }
    return copy_op(rank, i, op, collectives_, builder_);
  }

  // Is the other side of the message in the slice?
  bool partner_stays(Rank r, OpIndex i, const Op& op) const {
    const GlobalOp partner = schedule_.partner.empty() ? kNoOp : schedule_.partner[places_.global(r, i)];
    if (partner == kNoOp) return op.peer == kAny || new_rank_[op.peer] != kAny;
    return new_rank_[places_.place(partner).first] != kAny && in_time(partner);
  }

  void note_nothing(std::vector<Anomaly>* anomalies) const {
    if (anomalies == nullptr) return;
    std::uint64_t end = 0;
    for (const std::uint64_t finish : schedule_.finish_ns) end = std::max(end, finish);
    anomalies->push_back({"nothing_left", Severity::kWarning,
                          "No operation is in the stretch; the run that compute times alone allow ends at " +
                              std::to_string(end) + " ns.",
                          1});
  }

  void report(std::vector<Anomaly>& anomalies) const {
    const auto add = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
      if (count > 0) anomalies.push_back({name, severity, sentence, count});
    };
    add("sends_cut", Severity::kWarning,
        "Sends whose receive is not in the slice: they cost nothing now, and load no network.", cut_sends_);
    add("receives_cut", Severity::kWarning,
        "Receives whose send is not in the slice: what depends on them waits for nothing now.",
        cut_receives_);
    add("collectives_cut", Severity::kWarning,
        "Collective operations at an end of the slice, which not all members call within it: left out.",
        cut_collectives_);
    add("collectives_shrunk", Severity::kWarning,
        "Collective operations among fewer ranks than before: fewer and smaller messages.",
        shrunk_collectives_);
    add("roots_moved", Severity::kWarning, "Collective operations whose root is not in the slice.",
        moved_roots_);
    add("calcs_cut", Severity::kInfo, "Calcs that reach over an end of the slice: cut there.", cut_calcs_);
  }

  const Graph& graph_;
  const std::uint64_t from_, to_;
  const bool timed_;
  std::vector<Rank> new_rank_;  // kAny: left out
  std::vector<Rank> kept_ranks_;
  const OpPlaces places_;
  IdealSchedule schedule_;  // empty where it is not needed
  GraphBuilder builder_;
  std::vector<std::uint32_t> new_comm_;
  std::vector<std::vector<std::uint32_t>> position_;  // per communicator: who stays, in ascending order
  std::vector<Collective> collectives_;
  std::unordered_map<std::uint64_t, std::size_t> calls_;  // only asked, never walked
  std::uint64_t kept_ops_ = 0;
  std::uint64_t cut_sends_ = 0, cut_receives_ = 0, cut_collectives_ = 0, shrunk_collectives_ = 0,
                moved_roots_ = 0, cut_calcs_ = 0;
};

}  // namespace

Graph slice(const Graph& graph, const SliceOptions& options, std::vector<Anomaly>* anomalies) {
  return Slicer(graph, options).run(anomalies);
}

}  // namespace weft::goal
