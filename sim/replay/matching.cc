#include "sim/replay/matching.h"

namespace weft::sim {
namespace {

constexpr std::uint32_t kAnySource = 1, kAnyTag = 2;  // bits

std::uint32_t wildcards(const MatchKey& key) {
  return (key.source == goal::kAny ? kAnySource : 0) | (key.tag == goal::kAny ? kAnyTag : 0);
}

// The oldest entry of the rank that fits, or kNone. It is also the oldest with its own key.
template <typename Queues, typename Fits>
std::uint32_t oldest(const Queues& queues, std::uint32_t rank, const Fits& fits) {
  std::uint32_t i = queues.first_of_rank(rank);
  while (i != Queues::kNone && !fits(queues.entry(i).key)) i = queues.entry(i).rank_next;
  return i;
}

template <typename Queues>
std::uint32_t older(const Queues& queues, std::uint32_t a, std::uint32_t b) {
  if (a == Queues::kNone || b == Queues::kNone) return a == Queues::kNone ? b : a;
  return queues.entry(a).stamp < queues.entry(b).stamp ? a : b;
}

}  // namespace

std::uint32_t Matching::find_message(const MatchKey& receive) const {
  if (wildcards(receive) != 0) {
    // Where an equal receive waits, nothing that is there fits.
    if (receives_.front(receive) != kNone) return kNone;
    return oldest(messages_, receive.rank, [&](const MatchKey& message) { return receive.accepts(message); });
  }
  const std::uint32_t exact = messages_.front(receive);
  if (any_tag_messages_ == 0) return exact;
  return older(messages_, exact,
               messages_.front({receive.rank, receive.source, goal::kAny, receive.context}));
}

std::uint32_t Matching::find_receive(const MatchKey& message) const {
  if (message.tag == goal::kAny) {
    if (messages_.front(message) != kNone) return kNone;  // likewise
    return oldest(receives_, message.rank, [&](const MatchKey& receive) { return receive.accepts(message); });
  }
  std::uint32_t found = kNone;
  for (std::uint32_t kind = 0; kind < waiting_.size(); ++kind) {
    if (waiting_[kind] == 0) continue;
    MatchKey key = message;
    if ((kind & kAnySource) != 0) key.source = goal::kAny;
    if ((kind & kAnyTag) != 0) key.tag = goal::kAny;
    found = older(receives_, found, receives_.front(key));
  }
  return found;
}

std::optional<ArrivedMessage> Matching::post(const MatchKey& key, std::uint32_t receive) {
  const std::uint32_t found = find_message(key);
  if (found != kNone) {
    any_tag_messages_ -= messages_.entry(found).key.tag == goal::kAny;
    return messages_.take(found);
  }
  receives_.push(key, receive);
  ++waiting_[wildcards(key)];
  return std::nullopt;
}

std::uint32_t Matching::arrive(const MatchKey& key, const ArrivedMessage& message) {
  const std::uint32_t found = find_receive(key);
  if (found != kNone) {
    --waiting_[wildcards(receives_.entry(found).key)];
    return receives_.take(found);
  }
  messages_.push(key, message);
  any_tag_messages_ += key.tag == goal::kAny;
  return kNone;
}

}  // namespace weft::sim
