#include "sim/replay/matching.h"

#include "sim/core/random.h"

namespace weft::sim {

KeyedQueues::KeyedQueues(std::uint32_t ranks)
    : slots_(64), rank_head_(ranks, kNone), rank_tail_(ranks, kNone) {}

std::uint64_t KeyedQueues::hash(const MatchKey& key) {
  const std::uint64_t a = static_cast<std::uint64_t>(key.rank) << 32 | key.source;
  const std::uint64_t b = static_cast<std::uint64_t>(key.tag) << 32 | key.sub;
  return mix64(a * 0x9E3779B97F4A7C15ULL + b * 0xD1B54A32D192ED03ULL + key.context);
}

std::size_t KeyedQueues::find_slot(const MatchKey& key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(key) & mask;
  while (slots_[slot].head != kNone && pool_[slots_[slot].head].key != key) slot = (slot + 1) & mask;
  return slot;
}

void KeyedQueues::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.head != kNone) slots_[find_slot(pool_[slot.head].key)] = slot;
  }
}

void KeyedQueues::push(const MatchKey& key, std::uint32_t value, std::uint64_t stamp) {
  if ((used_slots_ + 1) * 2 > slots_.size()) grow();
  std::uint32_t index = free_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(pool_.size());
    pool_.emplace_back();
  } else {
    free_ = pool_[index].next;
  }
  const std::uint32_t last = rank_tail_[key.rank];
  pool_[index] = {key, value, stamp, kNone, last, kNone};
  (last == kNone ? rank_head_[key.rank] : pool_[last].rank_next) = index;
  rank_tail_[key.rank] = index;
  Slot& slot = slots_[find_slot(key)];
  if (slot.head == kNone) {
    slot.head = index;
    ++used_slots_;
  } else {
    pool_[slot.tail].next = index;
  }
  slot.tail = index;
  ++size_;
}

std::uint32_t KeyedQueues::front(const MatchKey& key) const { return slots_[find_slot(key)].head; }

// Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
void KeyedQueues::erase_slot(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t i = (slot + 1) & mask; slots_[i].head != kNone; i = (i + 1) & mask) {
    const std::size_t home = hash(pool_[slots_[i].head].key) & mask;
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = {};
  --used_slots_;
}

std::uint32_t KeyedQueues::take(std::uint32_t index) {
  Entry& entry = pool_[index];
  const std::size_t slot = find_slot(entry.key);
  if (entry.next == kNone) {
    erase_slot(slot);
  } else {
    slots_[slot].head = entry.next;
  }
  const std::uint32_t rank = entry.key.rank;
  (entry.rank_previous == kNone ? rank_head_[rank] : pool_[entry.rank_previous].rank_next) = entry.rank_next;
  (entry.rank_next == kNone ? rank_tail_[rank] : pool_[entry.rank_next].rank_previous) = entry.rank_previous;
  entry.next = free_;
  free_ = index;
  --size_;
  return entry.value;
}

namespace {

// The oldest entry of the rank that fits, or kNone. It is also the oldest with its own key.
template <typename Fits>
std::uint32_t oldest(const KeyedQueues& queues, std::uint32_t rank, Fits&& fits) {
  std::uint32_t i = queues.first_of_rank(rank);
  while (i != KeyedQueues::kNone && !fits(queues.entry(i).key)) i = queues.entry(i).rank_next;
  return i;
}

}  // namespace

std::uint32_t Matching::take_message(std::uint32_t index) {
  any_tag_messages_ -= unexpected_.entry(index).key.tag == goal::kAny;
  return unexpected_.take(index);
}

std::uint32_t Matching::post(const MatchKey& key, std::uint32_t receive) {
  std::uint32_t found;
  if (key.is_wildcard()) {
    found = oldest(unexpected_, key.rank, [&](const MatchKey& message) { return key.accepts(message); });
  } else {
    found = unexpected_.front(key);
    if (any_tag_messages_ > 0) {
      const std::uint32_t other = unexpected_.front({key.rank, key.source, goal::kAny, key.context, key.sub});
      if (found == kNone ||
          (other != kNone && unexpected_.entry(other).stamp < unexpected_.entry(found).stamp)) {
        found = other;
      }
    }
  }
  if (found != kNone) return take_message(found);
  (key.is_wildcard() ? wildcards_ : posted_).push(key, receive, next_stamp_++);
  return kNone;
}

std::uint32_t Matching::arrive(const MatchKey& key, std::uint32_t message) {
  const auto accepts = [&](const MatchKey& receive) { return receive.accepts(key); };
  const std::uint32_t exact = key.tag == goal::kAny ? oldest(posted_, key.rank, accepts) : posted_.front(key);
  const std::uint32_t wild = oldest(wildcards_, key.rank, accepts);
  if (wild != kNone && (exact == kNone || wildcards_.entry(wild).stamp < posted_.entry(exact).stamp)) {
    return wildcards_.take(wild);
  }
  if (exact != kNone) return posted_.take(exact);
  unexpected_.push(key, message, next_stamp_++);
  any_tag_messages_ += key.tag == goal::kAny;
  return kNone;
}

}  // namespace weft::sim
