#include "sim/replay/match_table.h"

#include <algorithm>

namespace weft::sim {

MatchEntry* MatchTableMemory::take(std::uint32_t capacity) {
  if (capacity >= kLarge) {
    bytes_ += capacity * sizeof(MatchEntry);
    return large_.emplace_back(capacity).data();
  }
  std::vector<MatchEntry*>& free = free_[static_cast<std::size_t>(std::countr_zero(capacity))];
  if (!free.empty()) {
    MatchEntry* const entries = free.back();
    free.pop_back();
    std::fill_n(entries, capacity, MatchEntry());
    return entries;
  }
  if (chunks_.empty() || used_ + capacity > chunks_.back().capacity()) {
    // Each is as large as all before it, from 16 KiB to 2 MiB.
    const std::size_t before = bytes_ / sizeof(MatchEntry);
    chunks_.emplace_back().reserve(
        std::max<std::size_t>(std::clamp<std::size_t>(before, 1 << 10, 1 << 17), capacity));
    bytes_ += chunks_.back().capacity() * sizeof(MatchEntry);
    used_ = 0;
  }
  chunks_.back().resize(used_ + capacity);
  used_ += capacity;
  return chunks_.back().data() + used_ - capacity;
}

void MatchTableMemory::give_back(MatchEntry* entries, std::uint32_t capacity) {
  if (capacity < kLarge)
    return free_[static_cast<std::size_t>(std::countr_zero(capacity))].push_back(entries);
  bytes_ -= capacity * sizeof(MatchEntry);
  std::erase_if(large_, [entries](const LargeVector<MatchEntry>& table) { return table.data() == entries; });
}

// Robin Hood hashing (P. Celis, P.-Å. Larson, J. I. Munro, FOCS 1985) with linear probing: what hangs
// together is in the order of its homes. So what isn't there is soon known not to be, and what is taken out
// leaves no trace as soon as its successors have moved up, as far as they are not at home.

const MatchTable::Entry* MatchTable::find_far(const Key& key) const {
  const std::uint32_t mask = capacity_ - 1;
  std::uint32_t i = home(key);
  for (std::uint32_t distance = 0; far_[i].last != kNone; ++distance, i = (i + 1) & mask) {
    if (far_[i].is(key)) return &far_[i];
    if (distance_from_home(i) < distance) return nullptr;
  }
  return nullptr;
}

MatchTable::Entry& MatchTable::far_place(const Key& key, MatchTableMemory& memory) {
  if ((used_ + 1) * 4 > capacity_ * 3) {
    Entry* const old = far_;
    const std::uint32_t old_capacity = capacity_;
    capacity_ = capacity_ == 0 ? 4 : capacity_ * 2;
    far_ = memory.take(capacity_);
    used_ = 0;
    for (std::uint32_t i = 0; i < old_capacity; ++i) {
      if (old[i].last != kNone) far_place(old[i].key()) = old[i];
    }
    if (old != nullptr) memory.give_back(old, old_capacity);
  }
  return far_place(key);
}

MatchTable::Entry& MatchTable::far_place(const Key& key) {
  ++used_;
  const std::uint32_t mask = capacity_ - 1;
  std::uint32_t place = home(key);
  for (std::uint32_t distance = 0; far_[place].last != kNone; ++distance, place = (place + 1) & mask) {
    if (distance_from_home(place) < distance) break;
  }
  std::uint32_t end = place;
  while (far_[end].last != kNone) end = (end + 1) & mask;
  for (; end != place; end = (end - 1) & mask) far_[end] = far_[(end - 1) & mask];
  return far_[place];
}

void MatchTable::remove(Entry& entry) {
  entry.last = kNone;
  if (&entry >= here_ && &entry < here_ + kHere) return;
  --used_;
  const std::uint32_t mask = capacity_ - 1;
  auto hole = static_cast<std::uint32_t>(&entry - far_);
  for (std::uint32_t i = (hole + 1) & mask; far_[i].last != kNone && distance_from_home(i) > 0;
       i = (i + 1) & mask) {
    far_[hole] = far_[i];
    far_[i].last = kNone;
    hole = i;
  }
}

}  // namespace weft::sim
