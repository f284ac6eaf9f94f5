#include "goal/transform/recognize.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "goal/transform/copy.h"

namespace weft::goal {
namespace {

// The messages of one communicator and tag.
struct Family {
  std::map<std::pair<Rank, Rank>, std::uint64_t> messages;  // sends, by sender and receiver
  std::map<std::pair<Rank, Rank>, std::uint64_t> receives;
  std::vector<std::pair<Rank, OpIndex>> ops;  // in ascending order
  bool wildcards = false;
};

struct Pattern {
  CollectiveKind kind;
  Rank root = 0;
  std::uint64_t times = 0;  // how often it is done
};

Rank parent(Rank v, bool lowest) { return lowest ? v & (v - 1) : v - std::bit_floor(v); }

// Is every rank's message to or from its parent there, so many times?
bool is_tree(const Family& family, Rank ranks, Rank root, bool up, bool lowest, std::uint64_t times) {
  for (Rank v = 1; v < ranks; ++v) {
    const auto child = static_cast<Rank>((std::uint64_t{v} + root) % ranks);
    const auto above = static_cast<Rank>((std::uint64_t{parent(v, lowest)} + root) % ranks);
    const auto found = family.messages.find(up ? std::pair(child, above) : std::pair(above, child));
    if (found == family.messages.end() || found->second != times) return false;
  }
  return true;
}

std::optional<Pattern> pattern_of(const Family& family, Rank ranks) {
  if (family.wildcards || ranks < 3 || family.messages.empty() || family.messages != family.receives) {
    return std::nullopt;
  }
  const std::uint64_t times = family.messages.begin()->second;
  if (family.messages.size() == std::uint64_t{ranks} * (ranks - 1)) {
    for (const auto& [pair, count] : family.messages) {
      if (count != times || pair.first == pair.second) return std::nullopt;
    }
    return Pattern{CollectiveKind::kAlltoall, 0, times};
  }
  if (family.messages.size() != ranks - 1) return std::nullopt;
  // The root of a tree is the one rank that no message comes to, or that none goes from.
  for (const bool up : {false, true}) {
    std::vector<bool> has(ranks, false);
    for (const auto& [pair, count] : family.messages) has[up ? pair.first : pair.second] = true;
    if (std::count(has.begin(), has.end(), false) != 1) continue;
    const auto root = static_cast<Rank>(std::find(has.begin(), has.end(), false) - has.begin());
    for (const bool lowest : {true, false}) {
      if (!is_tree(family, ranks, root, up, lowest, times)) continue;
      return Pattern{up ? CollectiveKind::kReduce : CollectiveKind::kBcast, root, times};
    }
  }
  return std::nullopt;
}

class Recognizer {
 public:
  explicit Recognizer(const Graph& graph) : graph_(graph) {}

  Graph run(std::vector<Anomaly>* anomalies) {
    instance_.resize(graph_.ranks());
    for (Rank r = 0; r < graph_.ranks(); ++r) instance_[r].assign(graph_.rank(r).ops(), kAny);
    for (const bool by_tag : {true, false}) {
      if (!runs_forward()) break;
      collect(by_tag);
      for (const auto& [key, family] : families_) take(key.first, family);
    }
    if (found_ == 0) return copy_graph(graph_, [](Rank, OpIndex, Op&) {});
    GraphBuilder builder;
    copy_communicators(graph_, builder);
    for (Rank r = 0; r < graph_.ranks(); ++r) build_rank(r, builder);
    if (anomalies != nullptr && found_ > 0) {
      anomalies->push_back({"collectives_recognized", Severity::kWarning,
                            "Groups of messages that do what a collective does, made collectives: a replay "
                            "chooses their algorithm.",
                            found_});
    }
    return builder.finish();
  }

 private:
  // Do all dependencies point forward? Then what stands together can be made one without a circle.
  bool runs_forward() const {
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        for (const Edge& edge : rank.dependents(i)) {
          if (edge.dependent() <= i) return false;
        }
      }
    }
    return true;
  }

  // Sorts the messages that belong to nothing yet by communicator, and by tag or not.
  void collect(bool by_tag) {
    families_.clear();
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        const bool sends = rank.kind(i) == OpKind::kSend;
        if ((!sends && rank.kind(i) != OpKind::kRecv) || instance_[r][i] != kAny) continue;
        Family& family = families_[{rank.comm(i), by_tag ? rank.tag(i) : 0}];
        family.ops.emplace_back(r, i);
        family.wildcards |= rank.peer(i) == kAny || rank.tag(i) == kAny;
        ++(sends ? family.messages
                 : family.receives)[sends ? std::pair(r, rank.peer(i)) : std::pair(rank.peer(i), r)];
      }
    }
  }

  void take(std::uint32_t comm, const Family& family) {
    const std::optional<Pattern> pattern = pattern_of(family, graph_.ranks());
    if (!pattern || !holds_all(comm)) return;
    // The operations of each rank stand together for each time, in program order.
    std::vector<std::size_t> first(std::size_t{graph_.ranks()} + 1, 0);
    for (const auto& [r, i] : family.ops) ++first[r + 1];
    for (std::size_t r = 1; r < first.size(); ++r) first[r] += first[r - 1];
    std::vector<std::uint64_t> bytes(pattern->times, 0);
    const auto time_of = [&](std::size_t at) {
      const Rank r = family.ops[at].first;
      return (at - first[r]) / ((first[r + 1] - first[r]) / pattern->times);
    };
    for (std::size_t at = 0; at < family.ops.size(); ++at) {
      const auto& [r, i] = family.ops[at];
      const std::size_t time = time_of(at);
      if (at == 0 || (r == 0 && time != time_of(at - 1))) bytes[time] = graph_.rank(r).value(i);
      if (graph_.rank(r).value(i) != bytes[time]) return;
      if (at > first[r] && time == time_of(at - 1) && i != family.ops[at - 1].second + 1) return;
    }
    for (std::size_t at = 0; at < family.ops.size(); ++at) {
      const auto& [r, i] = family.ops[at];
      instance_[r][i] = static_cast<std::uint32_t>(collectives_.size() + time_of(at));
    }
    for (const std::uint64_t size : bytes) {
      collectives_.push_back({.kind = pattern->kind, .comm = comm, .root = pattern->root, .bytes = size});
    }
    found_ += pattern->times;
  }

  bool holds_all(std::uint32_t comm) const {
    if (graph_.communicator_size(comm) != graph_.ranks()) return false;
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      if (graph_.world_rank(comm, r) != r) return false;
    }
    return true;
  }

  void build_rank(Rank r, GraphBuilder& builder) const {
    const RankView rank = graph_.rank(r);
    std::vector<OpIndex> new_op(rank.ops());
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const std::uint32_t instance = instance_[r][i];
      if (instance == kAny) {
        new_op[i] = copy_op(rank, i, rank.op(i), graph_.collectives(), builder);
      } else if (i > 0 && instance_[r][i - 1] == instance) {
        new_op[i] = new_op[i - 1];
      } else {
        new_op[i] = builder.add_collective(collectives_[instance], rank.cpu(i), rank.nic(i));
      }
    }
    std::vector<std::pair<OpIndex, OpIndex>> edges;  // of collectives, so that none is added twice
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      for (const Edge& edge : rank.dependents(i)) {
        const OpIndex to = edge.dependent();
        if (new_op[i] == new_op[to]) continue;
        const bool merged = instance_[r][i] != kAny || instance_[r][to] != kAny;
        if (merged &&
            std::find(edges.rbegin(), edges.rend(), std::pair(new_op[i], new_op[to])) != edges.rend()) {
          continue;
        }
        if (merged) edges.emplace_back(new_op[i], new_op[to]);
        builder.add_edge(new_op[i], new_op[to], edge.on_start());
      }
    }
    builder.end_rank();
  }

  const Graph& graph_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Family> families_;  // by communicator and tag
  std::vector<std::vector<std::uint32_t>> instance_;  // per rank and operation: its collective, or kAny
  std::vector<Collective> collectives_;
  std::uint64_t found_ = 0;
};

}  // namespace

Graph recognize_collectives(const Graph& graph, std::vector<Anomaly>* anomalies) {
  return Recognizer(graph).run(anomalies);
}

}  // namespace weft::goal
