#include "goal/import/mpi/partners.h"

#include <algorithm>
#include <compare>
#include <unordered_map>
#include <vector>

#include "goal/transform/copy.h"

namespace weft::goal {
namespace {

struct Message {
  Rank source, destination;
  std::uint32_t comm, tag;
  OpIndex op;  // of the sender or the receiver
  auto operator<=>(const Message&) const = default;
  bool same_kind(const Message& other) const {
    return source == other.source && destination == other.destination && comm == other.comm &&
           tag == other.tag;
  }
};

// Which operations go, by rank.
using Dropped = std::vector<std::vector<bool>>;

// Both lists are sorted: equal kinds lie side by side, in program order.
void drop_left_over(const std::vector<Message>& sends, const std::vector<Message>& receives,
                    WithoutPartners& count, Dropped& dropped) {
  std::size_t s = 0, r = 0;
  const auto drop_send = [&] {
    dropped[sends[s].source][sends[s].op] = true;
    ++count.sends, ++s;
  };
  const auto drop_receive = [&] {
    dropped[receives[r].destination][receives[r].op] = true;
    ++count.receives, ++r;
  };
  while (s < sends.size() && r < receives.size()) {
    if (sends[s].same_kind(receives[r])) {
      ++s, ++r;
      continue;
    }
    Message send = sends[s], receive = receives[r];
    send.op = receive.op = 0;
    if (send < receive) {
      drop_send();
    } else {
      drop_receive();
    }
  }
  while (s < sends.size()) drop_send();
  while (r < receives.size()) drop_receive();
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

struct MessageHash {
  std::size_t operator()(const Message& message) const {
    const std::uint64_t peers = std::uint64_t{message.source} << 32 | message.destination;
    const std::uint64_t kind = std::uint64_t{message.comm} << 32 | message.tag;
    return (peers * 0x9E3779B97F4A7C15u ^ kind) * 0xC2B2AE3D27D4EB4Fu;
  }
};

}  // namespace

std::uint64_t sends_never_received(const Graph& graph) {
  std::unordered_map<Message, std::uint64_t, MessageHash> open;  // by kind: their `op` is 0
  std::uint64_t left = 0;
  for (const OpKind kind : {OpKind::kSend, OpKind::kRecv}) {
    for (Rank r = 0; r < graph.ranks(); ++r) {
      const RankView rank = graph.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        const Op& op = rank.op(i);
        if (op.kind != kind) continue;
        if (kind == OpKind::kSend) {
          ++open[{r, op.peer, op.comm, op.tag, 0}], ++left;
          continue;
        }
        if (op.peer == kAny || op.tag == kAny) return 0;
        const auto found = open.find({op.peer, r, op.comm, op.tag, 0});
        if (found != open.end() && found->second > 0) --found->second, --left;
      }
    }
  }
  return left;
}

Graph drop_without_partners(const Graph& graph, WithoutPartners& count) {
  const std::vector<std::uint32_t> common = common_calls(graph);
  std::vector<std::uint32_t> most = common;
  Dropped dropped(graph.ranks());
  std::vector<Message> sends, receives;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    dropped[r].resize(rank.ops());
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const Op& op = rank.op(i);
      if (op.kind == OpKind::kSend) sends.push_back({r, op.peer, op.comm, op.tag, i});
      if (op.kind == OpKind::kCollective && op.tag >= common[op.comm]) {
        dropped[r][i] = true;
        most[op.comm] = std::max(most[op.comm], op.tag + 1);
      }
      if (op.kind != OpKind::kRecv) continue;
      if (op.peer == kAny || op.tag == kAny) {
        dropped[r][i] = true;
        ++count.receives;
      } else {
        receives.push_back({op.peer, r, op.comm, op.tag, i});
      }
    }
  }
  for (std::size_t c = 0; c < common.size(); ++c) count.collectives += most[c] - common[c];
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  drop_left_over(sends, receives, count, dropped);
  return copy_graph(graph, [&](Rank r, OpIndex i, Op& op) {
    if (dropped[r][i]) op = Op{.kind = OpKind::kCalc, .cpu = op.cpu};
  });
}

}  // namespace weft::goal
