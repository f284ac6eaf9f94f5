#include "goal/transform/merge.h"

#include <numeric>
#include <vector>

#include "goal/transform/copy.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Adds the communicators of a job whose first rank is `base`; `next` is the number of the first of them.
void add_communicators(const MergeJob& job, Rank base, std::uint32_t next, GraphBuilder& builder) {
  for (const Communicator& communicator : job.graph->communicators()) {
    Communicator shifted{job.name + ": " + communicator.name, communicator.ranks};
    if (shifted.ranks.empty()) {
      shifted.ranks.resize(job.graph->ranks());
      std::iota(shifted.ranks.begin(), shifted.ranks.end(), base);
    } else {
      for (Rank& rank : shifted.ranks) rank += base;
    }
    add_own_communicator(builder, std::move(shifted), next++);
  }
}

}  // namespace

Graph merge(std::span<const MergeJob> jobs) {
  std::uint64_t ranks = 0, ops = 0, edges = 0;
  for (const MergeJob& job : jobs) {
    ranks += job.graph->ranks();
    ops += job.graph->ops();
    edges += job.graph->edges();
  }
  if (ranks >= kAny) throw InputError("merge: the jobs have more than 2^32 - 2 ranks together");
  if (jobs.size() == 1) return copy_graph(*jobs[0].graph, [](Rank, OpIndex, Op&) {});

  GraphBuilder builder;
  builder.reserve(ops, edges);
  std::vector<std::uint32_t> first_communicator;  // per job: what its world has become
  Rank base = 0;
  std::uint32_t next = 1;
  for (const MergeJob& job : jobs) {
    first_communicator.push_back(next);
    if (job.graph->ranks() == 0) continue;  // an empty list of ranks would mean all
    add_communicators(job, base, next, builder);
    next += static_cast<std::uint32_t>(job.graph->communicators().size());
    base += job.graph->ranks();
  }
  base = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Graph& graph = *jobs[j].graph;
    std::vector<Collective> collectives = graph.collectives();
    for (Collective& collective : collectives) collective.comm += first_communicator[j];
    for (Rank r = 0; r < graph.ranks(); ++r) {
      copy_rank(graph.rank(r), collectives, builder, [&](OpIndex, Op& op) {
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) return;
        op.comm += first_communicator[j];
        if (op.peer != kAny) op.peer += base;
      });
    }
    base += graph.ranks();
  }
  return builder.finish();
}

}  // namespace weft::goal
