// What the transforms share: copying ranks and communicators into a new graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "goal/graph/graph.h"

namespace weft::goal {

// Adds a communicator that is equal to none before it: its name gets a ' where needed. `index` is the one
// that it must get, so that messages of two communicators never meet.
inline void add_own_communicator(GraphBuilder& builder, Communicator communicator, std::uint32_t index) {
  while (builder.add_communicator(communicator) != index) communicator.name += "'";
}

// The communicators of `graph`, under the same numbers.
inline void copy_communicators(const Graph& graph, GraphBuilder& builder) {
  for (std::uint32_t i = 1; i < graph.communicators().size(); ++i) {
    add_own_communicator(builder, graph.communicators()[i], i);
  }
}

// Appends the operation `op`, the changed copy of operation i of `rank`, to the builder's current rank.
// `collectives` stands for the table of the graph that `rank` belongs to.
inline OpIndex copy_op(const RankView& rank, OpIndex i, const Op& op, std::span<const Collective> collectives,
                       GraphBuilder& builder) {
  if (op.kind != OpKind::kCollective) return builder.add(op, rank.label(i));
  return builder.add_collective(collectives[op.peer], op.cpu, op.nic, rank.label(i));
}

// Appends a whole rank: every operation as change(index, op) leaves it, and all edges.
template <typename Change>
void copy_rank(const RankView& rank, std::span<const Collective> collectives, GraphBuilder& builder,
               const Change& change) {
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    Op op = rank.op(i);
    change(i, op);
    copy_op(rank, i, op, collectives, builder);
  }
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    for (const Edge& edge : rank.dependents(i)) builder.add_edge(i, edge.dependent(), edge.on_start());
  }
  builder.end_rank();
}

// A graph that differs from `graph` in single operations only: change(rank, index, op).
template <typename Change>
Graph copy_graph(const Graph& graph, const Change& change) {
  GraphBuilder builder;
  copy_communicators(graph, builder);
  builder.reserve(graph.ops(), graph.edges());
  for (Rank r = 0; r < graph.ranks(); ++r) {
    copy_rank(graph.rank(r), graph.collectives(), builder, [&](OpIndex i, Op& op) { change(r, i, op); });
  }
  return builder.finish();
}

}  // namespace weft::goal
