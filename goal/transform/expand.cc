#include "goal/transform/expand.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "goal/transform/copy.h"
#include "goal/transform/wildcards.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// More edges than this between two sets go through a calc of 0.
constexpr std::size_t kMostDirectEdges = 64;

// Something to wait for: the finish of an operation, or its start.
struct Event {
  OpIndex op;
  bool on_start;
};

class Expander {
 public:
  Expander(const Graph& graph, const CollectiveSelection& selection, const ExpandOptions& options)
      : graph_(graph), selection_(selection), options_(options), places_(graph) {}

  Graph run() {
    copy_communicators(graph_, builder_);
    collective_comm_.assign(graph_.communicators().size(), kAny);
    tags_.assign(graph_.communicators().size(), 1);
    for_each_collective(
        [&](const CollectiveCall& call, const ChosenAlgorithm& chosen, const RankView&, OpIndex) {
          std::uint32_t& tags = tags_[call.collective->comm];
          for_each_group(call, chosen, [&](std::uint32_t) {
            for (const Step& step : group_.steps()) tags = std::max(tags, step.tag + 1);
          });
        });
    auto next = static_cast<std::uint32_t>(graph_.communicators().size());
    for_each_collective([&](const CollectiveCall& call, const ChosenAlgorithm&, const RankView&, OpIndex) {
      const std::uint32_t comm = call.collective->comm;
      if (collective_comm_[comm] != kAny) return;
      const Communicator& original = graph_.communicators()[comm];
      collective_comm_[comm] = next;
      add_own_communicator(builder_, {original.name + ": collectives", original.ranks}, next++);
    });
    for (Rank r = 0; r < graph_.ranks(); ++r) add_rank(r);
    return builder_.finish();
  }

 private:
  // What has become of a collective. Empty: a calc of 0 stands for it.
  struct Expansion {
    std::vector<OpIndex> entries;  // wait for what the collective waited for
    std::vector<OpIndex> exits;    // when they have finished, so has the collective
    enum { kUnknown, kBeingFound, kKnown } state = kUnknown;
    std::vector<Event> start;  // what must have happened for it to start
  };

  template <typename Work>
  void for_each_collective(const Work& work) {
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (rank.kind(i) != OpKind::kCollective) continue;
        const Collective& collective = rank.collective(i);
        const std::uint32_t size = graph_.communicator_size(collective.comm);
        const std::uint32_t me = places_.position(collective.comm, r);
        if (me == kAny) {
          throw InputError("operation " + std::to_string(i) + " of rank " + std::to_string(r) +
                           " is a collective on a communicator that the rank is not in");
        }
        if (size < 2) continue;
        const ChosenAlgorithm& chosen = selection_.choose(collective, size);
        work(CollectiveCall{&collective, size, me, &chosen.options}, chosen, rank, i);
      }
    }
  }

  // Calls work(lane) with each group's steps in group_.
  template <typename Work>
  void for_each_group(const CollectiveCall& call, const ChosenAlgorithm& chosen, const Work& work) {
    const std::uint32_t lanes = chosen.lanes(call);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      for (std::uint32_t index = 0;; ++index) {
        group_.clear();
        if (!chosen.algorithm->expand(call, lane, index, group_)) break;
        work(lane);
      }
    }
  }

  void add_rank(Rank r) {
    const RankView rank = graph_.rank(r);
    new_op_.assign(rank.ops(), 0);
    expansion_of_.assign(rank.ops(), kAny);
    expansions_.clear();
    has_start_dependents_ = false;
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCollective) {
        expand(r, rank, i);
      } else {
        new_op_[i] = builder_.add(rank.op(i), rank.label(i));
      }
    }
    for (OpIndex i = 0; i < rank.ops() && !expansions_.empty(); ++i) {
      if (expansion_of_[i] == kAny) continue;
      for (const Edge& edge : rank.dependents(i)) has_start_dependents_ |= edge.on_start();
    }
    if (has_start_dependents_) find_dependencies(rank);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      // A replay begins the steps of a collective behind whatever else is ready at that moment.
      for (const bool collectives : {false, true}) {
        for (const Edge& edge : rank.dependents(i)) {
          if ((expansion_of_[edge.dependent()] != kAny) == collectives) add_edge(rank, i, edge);
        }
      }
    }
    builder_.end_rank();
  }

  void add_edge(const RankView& rank, OpIndex i, const Edge& edge) {
    if (expansion_of_[i] == kAny && expansion_of_[edge.dependent()] == kAny) {
      builder_.add_edge(new_op_[i], new_op_[edge.dependent()], edge.on_start());
    } else {
      connect(event_of(rank, i, edge.on_start()), entries_of(edge.dependent()), rank.cpu(edge.dependent()));
    }
  }

  void expand(Rank r, const RankView& rank, OpIndex i) {
    const Collective& collective = rank.collective(i);
    const std::uint32_t size = graph_.communicator_size(collective.comm);
    Expansion expansion;
    if (size >= 2) {
      const ChosenAlgorithm& chosen = selection_.choose(collective, size);
      const CollectiveCall call{&collective, size, places_.position(collective.comm, r), &chosen.options};
      std::vector<OpIndex> before;  // what the group before ends with
      std::uint32_t current = 0;
      for_each_group(call, chosen, [&](std::uint32_t lane) {
        if (lane != current) {
          expansion.exits.insert(expansion.exits.end(), before.begin(), before.end());
          before.clear();
          current = lane;
        }
        add_group(call, rank, i, before, expansion);
      });
      expansion.exits.insert(expansion.exits.end(), before.begin(), before.end());
    }
    if (expansion.entries.empty()) {
      new_op_[i] = builder_.add_calc(0, rank.cpu(i));
      return;
    }
    expansion_of_[i] = static_cast<std::uint32_t>(expansions_.size());
    expansions_.push_back(std::move(expansion));
  }

  // Adds the steps of group_ behind those of the group before; `before` then holds what this group ends with.
  void add_group(const CollectiveCall& call, const RankView& rank, OpIndex i, std::vector<OpIndex>& before,
                 Expansion& expansion) {
    const std::uint32_t comm = call.collective->comm;
    begin_.clear();
    end_.clear();
    std::optional<OpIndex> last_in_turn;
    for (const Step& step : group_.steps()) {
      if (step.kind == StepKind::kCopy) continue;  // takes no time here
      for (std::uint32_t k = 0; k < step.count; ++k) {
        const std::uint32_t peer = step.peer_at(k, call.size);
        const std::uint64_t bytes = call.wire_bytes(step, peer);
        if (bytes == 0 && !step.signal) continue;
        const bool sends = step.kind == StepKind::kSend;
        const OpIndex op = builder_.add({.kind = sends ? OpKind::kSend : OpKind::kRecv,
                                         .nic = rank.nic(i),
                                         .cpu = rank.cpu(i),
                                         .peer = graph_.world_rank(comm, peer),
                                         .tag = tag(comm, rank.tag(i), step.tag),
                                         .comm = collective_comm_[comm],
                                         .value = bytes});
        if (step.in_turn && last_in_turn) {
          builder_.add_edge(*last_in_turn, op);
        } else {
          begin_.push_back(op);
        }
        if (step.in_turn) last_in_turn = op;
        const double ns = step.format == WireFormat::kInSwitch
                              ? 0
                              : step.combine * options_.reduction_ns_per_byte * static_cast<double>(bytes);
        if (ns <= 0) {
          end_.push_back(op);
        } else {
          end_.push_back(builder_.add_calc(static_cast<std::uint64_t>(std::llround(ns)), rank.cpu(i)));
          builder_.add_edge(op, end_.back());
        }
      }
    }
    if (begin_.empty()) return;
    if (before.empty()) {
      expansion.entries.insert(expansion.entries.end(), begin_.begin(), begin_.end());
    } else {
      std::vector<Event> events;
      for (const OpIndex op : before) events.push_back({op, false});
      connect(events, begin_, rank.cpu(i));
    }
    before = end_;
  }

  std::uint32_t tag(std::uint32_t comm, std::uint32_t number, std::uint32_t of_step) const {
    const std::uint64_t tag = std::uint64_t{number} * tags_[comm] + of_step;
    if (tag < kUnnamedTag) return static_cast<std::uint32_t>(tag);
    throw InputError("collective number " + std::to_string(number) + " on communicator " +
                     std::to_string(comm) + " would need tag " + std::to_string(tag) +
                     "; the highest is 2^32 - 3");
  }

  // All of `to` wait for all of `events`.
  void connect(const std::vector<Event>& events, const std::vector<OpIndex>& to, std::uint16_t cpu) {
    if (events.size() > 1 && to.size() > 1 && events.size() * to.size() > kMostDirectEdges) {
      const OpIndex join = builder_.add_calc(0, cpu);
      for (const Event& event : events) builder_.add_edge(event.op, join, event.on_start);
      for (const OpIndex op : to) builder_.add_edge(join, op);
      return;
    }
    for (const Event& event : events) {
      for (const OpIndex op : to) builder_.add_edge(event.op, op, event.on_start);
    }
  }

  std::vector<OpIndex> entries_of(OpIndex i) const {
    return expansion_of_[i] == kAny ? std::vector<OpIndex>{new_op_[i]}
                                    : expansions_[expansion_of_[i]].entries;
  }

  // What has happened when operation i has started or finished.
  std::vector<Event> event_of(const RankView& rank, OpIndex i, bool on_start) {
    if (expansion_of_[i] == kAny) return {{new_op_[i], on_start}};
    if (on_start) return start_of(rank, i);
    std::vector<Event> events;
    for (const OpIndex op : expansions_[expansion_of_[i]].exits) events.push_back({op, false});
    return events;
  }

  // A collective has started when all that it waits for has happened.
  const std::vector<Event>& start_of(const RankView& rank, OpIndex i) {
    const std::uint32_t index = expansion_of_[i];
    if (expansions_[index].state == Expansion::kBeingFound) {
      throw InputError("operation " + std::to_string(i) + " of rank " + std::to_string(rank_number(rank)) +
                       " waits for itself; 'weft goal check' shows the circle");
    }
    if (expansions_[index].state == Expansion::kUnknown) {
      expansions_[index].state = Expansion::kBeingFound;
      std::vector<Event> start;
      for (std::uint32_t d = first_dependency_[i]; d < first_dependency_[i + 1]; ++d) {
        const std::vector<Event> events = event_of(rank, dependencies_[d].op, dependencies_[d].on_start);
        start.insert(start.end(), events.begin(), events.end());
      }
      if (start.size() > 8) {  // else a chain of collectives would hand on ever more
        const OpIndex join = builder_.add_calc(0, rank.cpu(i));
        for (const Event& event : start) builder_.add_edge(event.op, join, event.on_start);
        start = {{join, false}};
      }
      expansions_[index].start = std::move(start);
      expansions_[index].state = Expansion::kKnown;
    }
    return expansions_[index].start;
  }
  Rank rank_number(const RankView& rank) const {
    Rank r = 0;
    while (graph_.rank(r).first_op() + graph_.rank(r).ops() <= rank.first_op()) ++r;
    return r;
  }

  // For each operation of the rank, what it waits for.
  void find_dependencies(const RankView& rank) {
    first_dependency_.assign(std::size_t{rank.ops()} + 2, 0);
    const auto each = [&](const auto& work) {
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        for (const Edge& edge : rank.dependents(i)) work(i, edge);
      }
    };
    each([&](OpIndex, const Edge& edge) { ++first_dependency_[edge.dependent() + 2]; });
    for (std::size_t i = 1; i < first_dependency_.size(); ++i)
      first_dependency_[i] += first_dependency_[i - 1];
    dependencies_.assign(first_dependency_.back(), {});
    each([&](OpIndex i, const Edge& edge) {
      dependencies_[first_dependency_[edge.dependent() + 1]++] = {i, edge.on_start()};
    });
  }

  const Graph& graph_;
  const CollectiveSelection& selection_;
  const ExpandOptions options_;
  const CommunicatorPlaces places_;
  GraphBuilder builder_;
  std::vector<std::uint32_t> collective_comm_;  // per communicator: where its collectives' messages are
  std::vector<std::uint32_t> tags_;             // per communicator: the most that one collective uses
  Group group_;
  // The members below are of the rank that is being added.
  std::vector<OpIndex> new_op_;              // per operation that is no expansion
  std::vector<std::uint32_t> expansion_of_;  // per operation; kAny: none
  std::vector<Expansion> expansions_;
  bool has_start_dependents_ = false;  // has a collective, that is
  std::vector<std::uint32_t> first_dependency_;
  std::vector<Event> dependencies_;
  std::vector<OpIndex> begin_, end_;  // of a group
};

}  // namespace

Graph expand_collectives(const Graph& graph, const CollectiveSelection& selection,
                         const ExpandOptions& options) {
  if (!std::isfinite(options.reduction_ns_per_byte) || options.reduction_ns_per_byte < 0) {
    throw InputError("expand: the time to combine a byte must be a number of at least 0");
  }
  return Expander(graph, selection, options).run();
}

}  // namespace weft::goal
