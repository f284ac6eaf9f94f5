#include "goal/import/mpi/partners.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "goal/transform/copy.h"

namespace weft::goal {
namespace {

// What a send and the receive that it meets have in common.
struct Kind {
  Rank source, destination;
  std::uint32_t comm, tag;
  bool operator==(const Kind&) const = default;
};
struct KindHash {
  std::size_t operator()(const Kind& kind) const {
    const std::uint64_t peers = std::uint64_t{kind.source} << 32 | kind.destination;
    const std::uint64_t rest = std::uint64_t{kind.comm} << 32 | kind.tag;
    return (peers * 0x9E3779B97F4A7C15u ^ rest) * 0xC2B2AE3D27D4EB4Fu;
  }
};
Kind kind_of(Rank rank, const Op& op) {
  return op.kind == OpKind::kSend ? Kind{rank, op.peer, op.comm, op.tag}
                                  : Kind{op.peer, rank, op.comm, op.tag};
}
bool is_open(const Op& op) { return op.kind == OpKind::kRecv && (op.peer == kAny || op.tag == kAny); }

struct Sides {
  std::uint64_t sends = 0, receives = 0;
  std::uint64_t met() const { return std::min(sends, receives); }
};
struct Messages {
  std::unordered_map<Kind, Sides, KindHash> of;
  std::uint64_t sends = 0, receives = 0, met = 0;
  std::uint64_t open = 0;  // receives from any source or with any tag, which are of no kind
};
Messages messages_of(const Graph& graph) {
  Messages all;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const Op& op = rank.op(i);
      const bool is_send = op.kind == OpKind::kSend;
      if (is_open(op)) ++all.open;
      if (is_open(op) || (!is_send && op.kind != OpKind::kRecv)) continue;
      Sides& sides = all.of[kind_of(r, op)];
      all.met -= sides.met();
      ++(is_send ? sides.sends : sides.receives);
      ++(is_send ? all.sends : all.receives);
      all.met += sides.met();
    }
  }
  return all;
}

// How many collectives of each communicator all its ranks call.
std::vector<std::uint32_t> common_calls(const Graph& graph) {
  std::vector<std::uint32_t> common(graph.communicators().size(), UINT32_MAX);
  std::vector<std::vector<std::uint32_t>> calls(graph.ranks(), std::vector<std::uint32_t>());
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != OpKind::kCollective) continue;
      if (calls[r].size() <= rank.comm(i)) calls[r].resize(rank.comm(i) + 1);
      ++calls[r][rank.comm(i)];
    }
  }
  for (std::uint32_t c = 0; c < common.size(); ++c) {
    for (std::uint32_t i = 0; i < graph.communicator_size(c); ++i) {
      const std::vector<std::uint32_t>& of_rank = calls[graph.world_rank(c, i)];
      common[c] = std::min(common[c], c < of_rank.size() ? of_rank[c] : 0);
    }
  }
  return common;
}

}  // namespace

std::uint64_t sends_never_received(const Graph& graph) {
  const Messages messages = messages_of(graph);
  return messages.open > 0 ? 0 : messages.sends - messages.met;
}

Graph drop_without_partners(const Graph& graph, WithoutPartners& count) {
  const std::vector<std::uint32_t> common = common_calls(graph);
  std::vector<std::uint32_t> most = common;
  const Messages messages = messages_of(graph);
  count.sends += messages.sends - messages.met;
  count.receives += messages.receives - messages.met + messages.open;
  std::unordered_map<Kind, Sides, KindHash> seen;
  std::vector<std::vector<bool>> dropped(graph.ranks());
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    dropped[r].resize(rank.ops());
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const Op& op = rank.op(i);
      if (op.kind == OpKind::kCollective && op.tag >= common[op.comm]) {
        dropped[r][i] = true;
        most[op.comm] = std::max(most[op.comm], op.tag + 1);
      }
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      if (is_open(op)) {
        dropped[r][i] = true;
        continue;
      }
      Sides& before = seen[kind_of(r, op)];
      std::uint64_t& number = op.kind == OpKind::kSend ? before.sends : before.receives;
      dropped[r][i] = number++ >= messages.of.at(kind_of(r, op)).met();
    }
  }
  for (std::size_t c = 0; c < common.size(); ++c) count.collectives += most[c] - common[c];
  return copy_graph(graph, [&](Rank r, OpIndex i, Op& op) {
    if (dropped[r][i]) op = Op{.kind = OpKind::kCalc, .cpu = op.cpu};
  });
}

}  // namespace weft::goal
