#include "goal/transform/ideal_matching.h"

#include "sim/units/random.h"

namespace weft::goal {

IdealMatching::IdealMatching(const Graph& graph)
    : uses_wildcards_(graph.ranks(), false), next_(graph.ops(), kNoOp) {
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kRecv && (rank.peer(i) == kAny || rank.tag(i) == kAny)) {
        uses_wildcards_[r] = true;
      }
      // A send of any tag fits receives of every tag.
      if (rank.kind(i) == OpKind::kSend && rank.tag(i) == kAny) uses_wildcards_[rank.peer(i)] = true;
    }
  }
}

std::size_t IdealMatching::Hash::operator()(const Envelope& e) const {
  const std::uint64_t ranks = std::uint64_t{e.to} << 32 | e.from;
  const std::uint64_t rest = std::uint64_t{e.comm} << 32 | e.tag;
  return static_cast<std::size_t>(mix64(mix64(ranks + 0x9E3779B97F4A7C15ULL) ^ rest));
}

GlobalOp IdealMatching::meet(const Envelope& envelope, GlobalOp op, Side& own, Side& other) {
  if (uses_wildcards_[envelope.to]) {
    const GlobalOp found = search(envelope, other.searched[envelope.to]);
    if (found == kNoOp) own.searched[envelope.to].push_back({envelope, op});
    return found;
  }
  const auto found = other.exact.find(envelope);
  if (found != other.exact.end()) {
    Fifo& fifo = found->second;
    const GlobalOp first = fifo.first;
    fifo.first = next_[first];
    if (first == fifo.last) other.exact.erase(found);
    return first;
  }
  Fifo& fifo = own.exact[envelope];
  if (fifo.first == kNoOp) {
    fifo.first = op;
  } else {
    next_[fifo.last] = op;
  }
  fifo.last = op;
  return kNoOp;
}

GlobalOp IdealMatching::search(const Envelope& envelope, std::deque<Waiting>& waiting) {
  const auto fits = [](std::uint32_t a, std::uint32_t b) { return a == b || a == kAny || b == kAny; };
  for (auto it = waiting.begin(); it != waiting.end(); ++it) {
    if (it->envelope.comm != envelope.comm || !fits(it->envelope.from, envelope.from) ||
        !fits(it->envelope.tag, envelope.tag)) {
      continue;
    }
    const GlobalOp op = it->op;
    waiting.erase(it);
    return op;
  }
  return kNoOp;
}

}  // namespace weft::goal
