// What a graph sends in all, for the summaries of subcommands that make one.
#pragma once

#include <cstdint>

#include "goal/graph/graph.h"

namespace weft::cli {

struct Traffic {
  std::uint64_t messages = 0, collectives = 0;  // collectives: calls, over all ranks
  double bytes = 0;                             // of the messages; may well be more than 2^64
};

inline Traffic traffic_of(const goal::Graph& graph) {
  Traffic traffic;
  for (goal::Rank r = 0; r < graph.ranks(); ++r) {
    const goal::RankView rank = graph.rank(r);
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      traffic.collectives += rank.kind(i) == goal::OpKind::kCollective;
      if (rank.kind(i) != goal::OpKind::kSend) continue;
      ++traffic.messages;
      traffic.bytes += static_cast<double>(rank.value(i));
    }
  }
  return traffic;
}

}  // namespace weft::cli
