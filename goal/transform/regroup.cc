#include "goal/transform/regroup.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "goal/transform/copy.h"
#include "goal/transform/ideal_schedule.h"
#include "goal/transform/wildcards.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

class Regrouper {
 public:
  Regrouper(const Graph& graph, const RegroupOptions& options)
      : graph_(graph),
        options_(options),
        places_(graph),
        schedule_(ideal_schedule(graph)),
        collectives_(graph.collectives()) {
    require_complete(schedule_, "regroup");
  }

  Graph run(std::vector<Anomaly>* anomalies) {
    require_collectives_apart();
    add_communicators();
    for (Rank first = 0; first < graph_.ranks(); first += options_.ranks_per_node) {
      const Rank end = static_cast<Rank>(
          std::min<std::uint64_t>(std::uint64_t{first} + options_.ranks_per_node, graph_.ranks()));
      add_node(first, end);
      if (end == graph_.ranks()) break;
    }
    if (anomalies != nullptr) report(*anomalies);
    return builder_.finish();
  }

 private:
  Rank node_of(Rank rank) const { return rank / options_.ranks_per_node; }
  Rank member(Rank rank) const { return rank % options_.ranks_per_node; }
  bool is_local(Rank rank, const Op& op) const {
    return (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) && node_of(op.peer) == node_of(rank);
  }
  // The operation, with its partner's source and tag in the place of wildcards.
  Op bound(Rank rank, OpIndex i) const { return bind_wildcards(graph_, places_, schedule_, rank, i); }

  // The nodes of a communicator's members, in order, each once.
  std::vector<Rank> nodes_of(const Communicator& communicator, bool* shared) const {
    std::vector<bool> seen(node_of(graph_.ranks() - 1) + 1, false);
    std::vector<Rank> nodes;
    for (const Rank rank : communicator.ranks) {
      if (seen[node_of(rank)]) {
        *shared = true;
      } else {
        nodes.push_back(node_of(rank));
        seen[node_of(rank)] = true;
      }
    }
    return nodes;
  }

  void require_collectives_apart() {
    std::vector<bool> shared(graph_.communicators().size(), false);
    shared[kWorld] = options_.ranks_per_node > 1 && graph_.ranks() > 1;
    for (std::size_t c = 1; c < shared.size(); ++c) {
      bool two = graph_.communicators()[c].ranks.empty() && shared[kWorld];
      nodes_of(graph_.communicators()[c], &two);
      shared[c] = two;
    }
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (rank.kind(i) != OpKind::kCollective || !shared[rank.comm(i)]) continue;
        throw InputError("regroup: operation " + std::to_string(i) + " of rank " + std::to_string(r) + " (" +
                         std::string(name(rank.collective(i).kind)) +
                         ") is a collective with two ranks of one node, which one rank can't take part in "
                         "twice; spell collectives out first (--expand)");
      }
    }
  }

  // Communicators keep their numbers, for messages between the first members of nodes; each other pair of
  // members (3rd of a node to 1st of another, say) gets one of its own, so that messages match as before.
  void add_communicators() {
    for (std::uint32_t c = 1; c < graph_.communicators().size(); ++c) {
      bool shared = false;
      Communicator communicator = graph_.communicators()[c];
      if (!communicator.ranks.empty()) communicator.ranks = nodes_of(communicator, &shared);
      add_own_communicator(builder_, std::move(communicator), c);
    }
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      for (OpIndex i = 0; i < graph_.rank(r).ops(); ++i) {
        const Op op = bound(r, i);
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
        if (is_local(r, op) || (member(r) == 0 && member(op.peer) == 0)) continue;
        pairs_.emplace(key(r, op), 0);
      }
    }
    auto next = static_cast<std::uint32_t>(graph_.communicators().size());
    for (auto& [pair, index] : pairs_) {
      const auto& [comm, from, to] = pair;
      const Communicator& original = graph_.communicators()[comm];
      bool shared = false;
      std::vector<Rank> nodes;
      if (!original.ranks.empty()) nodes = nodes_of(original, &shared);
      index = next++;
      add_own_communicator(
          builder_,
          {original.name + ": " + std::to_string(from) + " to " + std::to_string(to), std::move(nodes)},
          index);
    }
  }
  std::tuple<std::uint32_t, Rank, Rank> key(Rank r, const Op& op) const {
    const bool sends = op.kind == OpKind::kSend;
    return {op.comm, member(sends ? r : op.peer), member(sends ? op.peer : r)};
  }

  struct Bases {
    std::uint32_t cpu = 0, nic = 0;
  };
  // Where the cpus and NICs of the next rank of the node begin.
  Bases after(Rank r, Bases bases) const {
    const RankView rank = graph_.rank(r);
    std::uint32_t cpus = 1, nics = 1;
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      cpus = std::max(cpus, rank.cpu(i) + 1u);
      nics = std::max(nics, rank.nic(i) + 1u);
    }
    bases.cpu += cpus;
    if (!options_.share_nics) bases.nic += nics;
    if (bases.cpu > 65536 || bases.nic > 256) {
      throw InputError("regroup: the ranks of node " + std::to_string(node_of(r)) + " have " +
                       (bases.cpu > 65536 ? "cpus up to number " + std::to_string(bases.cpu - 1) +
                                                " together; 65535 is the highest"
                                          : "more than 256 NICs together; they can share them"));
    }
    return bases;
  }

  // What has become of an operation: who waited for its start waits for `start`, and so on.
  struct NewOp {
    OpIndex start, finish;
  };

  void add_node(Rank first, Rank end) {
    new_ops_.clear();
    Bases bases;
    for (Rank r = first; r < end; ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) add_op(r, i, bases);
      bases = after(r, bases);
    }
    const GlobalOp base = places_.global(first, 0);
    for (Rank r = first; r < end; ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        const NewOp from = new_ops_[places_.global(r, i) - base];
        if (from.start != from.finish) builder_.add_edge(from.start, from.finish);
        for (const Edge& edge : rank.dependents(i)) {
          const NewOp to = new_ops_[places_.global(r, edge.dependent()) - base];
          builder_.add_edge(edge.on_start() ? from.start : from.finish, to.start, edge.on_start());
        }
        const GlobalOp partner = schedule_.partner[places_.global(r, i)];
        if (rank.kind(i) == OpKind::kSend && partner != kNoOp && node_of(rank.peer(i)) == node_of(r)) {
          builder_.add_edge(from.finish, new_ops_[partner - base].finish);
        }
      }
    }
    builder_.end_rank();
  }

  void add_op(Rank r, OpIndex i, Bases bases) {
    const RankView rank = graph_.rank(r);
    Op op = bound(r, i);
    bound_ += op != rank.op(i);
    op.cpu = static_cast<std::uint16_t>(op.cpu + bases.cpu);
    if (op.kind != OpKind::kCalc) op.nic = static_cast<std::uint8_t>(op.nic + bases.nic);
    if (op.kind == OpKind::kCollective) {
      const OpIndex index = builder_.add_collective(collectives_[op.peer], op.cpu, op.nic, label(rank, i));
      return new_ops_.push_back({index, index});
    }
    const bool local = is_local(r, op);
    if (local && op.kind == OpKind::kRecv) return add_local_receive(rank, i, op.cpu);
    if (local) {
      ++copies_;
      unreceived_ += schedule_.partner[places_.global(r, i)] == kNoOp;
      op = {.kind = OpKind::kCalc, .cpu = op.cpu, .value = copy_ns(op.value)};
    } else if (op.kind != OpKind::kCalc) {
      if (member(r) != 0 || member(op.peer) != 0) op.comm = pairs_.at(key(r, op));
      op.peer = node_of(op.peer);
    }
    const OpIndex index = builder_.add(op, label(rank, i));
    new_ops_.push_back({index, index});
  }

  void add_local_receive(const RankView& rank, OpIndex i, std::uint16_t cpu) {
    const std::span<const Edge> edges = rank.dependents(i);
    const bool posted = std::any_of(edges.begin(), edges.end(), [](const Edge& e) { return e.on_start(); });
    NewOp added{};
    added.start = builder_.add_calc(0, cpu);
    added.finish = posted ? builder_.add_calc(0, cpu) : added.start;
    new_ops_.push_back(added);
  }

  // Labels of two ranks would stand for two operations of one.
  std::string_view label(const RankView& rank, OpIndex i) const {
    return options_.ranks_per_node == 1 ? rank.label(i) : std::string_view();
  }

  std::uint64_t copy_ns(std::uint64_t bytes) const {
    const Time time = options_.copy_latency + options_.copy_bandwidth.serialization(bytes);
    return static_cast<std::uint64_t>((time.ps() + 500) / 1000);
  }

  void report(std::vector<Anomaly>& anomalies) const {
    const auto add = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
      if (count > 0) anomalies.push_back({name, severity, sentence, count});
    };
    add("local_copies", Severity::kInfo, "Messages within a node are copies now, which cross no network.",
        copies_);
    add("wildcards_bound", Severity::kWarning,
        "Sends and receives with wildcards got the source and tag of an ideal run; on another network they "
        "might have met others.",
        bound_);
    add("unreceived_copies", Severity::kWarning, "Messages within a node that no receive takes.",
        unreceived_);
  }

  const Graph& graph_;
  const RegroupOptions options_;
  const OpPlaces places_;
  const IdealSchedule schedule_;
  const std::vector<Collective> collectives_;
  GraphBuilder builder_;
  // By communicator, member of the sender's node, member of the receiver's node.
  std::map<std::tuple<std::uint32_t, Rank, Rank>, std::uint32_t> pairs_;
  std::vector<NewOp> new_ops_;  // of the node's operations, rank by rank
  std::uint64_t copies_ = 0, bound_ = 0, unreceived_ = 0;
};

}  // namespace

Graph regroup(const Graph& graph, const RegroupOptions& options, std::vector<Anomaly>* anomalies) {
  if (options.ranks_per_node == 0) throw InputError("regroup: a node must have at least one rank");
  if (options.copy_bandwidth < kLeastRate) {
    throw InputError("regroup: a copy bandwidth below " + to_string(kLeastRate) + " lacks its unit");
  }
  return Regrouper(graph, options).run(anomalies);
}

}  // namespace weft::goal
