#include "goal/transform/wildcards.h"

namespace weft::goal {

Op bind_wildcards(const Graph& graph, const OpPlaces& places, const IdealSchedule& schedule, Rank rank,
                  OpIndex i) {
  Op op = graph.rank(rank).op(i);
  if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) return op;
  const GlobalOp partner = schedule.partner[places.global(rank, i)];
  if (partner == kNoOp) return op;
  const bool any_source = op.kind == OpKind::kRecv && op.peer == kAny;
  if (!any_source && op.tag != kAny) return op;
  const auto [peer, index] = places.place(partner);
  if (any_source) op.peer = peer;
  if (op.tag == kAny) op.tag = graph.rank(peer).tag(index);
  if (op.tag == kAny) op.tag = kUnnamedTag;
  return op;
}

}  // namespace weft::goal
