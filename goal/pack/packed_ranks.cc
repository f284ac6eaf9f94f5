#include "goal/pack/packed_ranks.h"

namespace weft::goal {

RankView PackedRanks::rank(Rank rank) {
  constexpr std::uint32_t kOpsAtOnce = 4096;
  at_hand_ = Graph();  // before the next, so that no two are there at once
  GraphBuilder builder;
  builder.reserve(file_.ops(rank), file_.edges(rank));
  RankReader reader = file_.rank(rank);
  while (reader.next(block_, kOpsAtOnce)) {
    for (std::size_t k = 0; k < block_.ops.size(); ++k) {
      const OpIndex op = builder.add(block_.ops[k], block_.labels.empty() ? "" : block_.labels[k]);
      for (const Edge& edge : block_.dependents(k)) builder.add_edge(op, edge.dependent(), edge.on_start());
    }
  }
  builder.end_rank();
  at_hand_ = builder.finish();
  return at_hand_.rank(0);
}

}  // namespace weft::goal
