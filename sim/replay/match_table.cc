#include "sim/replay/match_table.h"

namespace weft::sim {

const MatchTable::Entry* MatchTable::find_far(const Key& key) const {
  for (std::uint32_t i = home(key); far_[i].last != kNone; i = (i + 1) & (capacity_ - 1)) {
    if (far_[i].is(key)) return &far_[i];
  }
  return nullptr;
}

MatchTable::Entry& MatchTable::far_place(const Key& key) {
  if ((used_ + 1) * 4 > capacity_ * 3) {
    const std::unique_ptr<Entry[]> old = std::exchange(far_, nullptr);
    const std::uint32_t old_capacity = capacity_;
    capacity_ = capacity_ == 0 ? 16 : capacity_ * 2;
    far_ = std::make_unique<Entry[]>(capacity_);
    used_ = 0;
    for (std::uint32_t i = 0; i < old_capacity; ++i) {
      const Entry& entry = old[i];
      if (entry.last != kNone) far_place({entry.source, entry.tag, entry.communicator}) = entry;
    }
  }
  ++used_;
  std::uint32_t i = home(key);
  while (far_[i].last != kNone) i = (i + 1) & (capacity_ - 1);
  return far_[i];
}

// Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
void MatchTable::remove(Entry& entry) {
  entry.last = kNone;
  if (&entry >= here_ && &entry < here_ + kHere) return;
  --used_;
  const std::uint32_t mask = capacity_ - 1;
  auto hole = static_cast<std::uint32_t>(&entry - far_.get());
  for (std::uint32_t i = (hole + 1) & mask; far_[i].last != kNone; i = (i + 1) & mask) {
    const std::uint32_t at_home = home({far_[i].source, far_[i].tag, far_[i].communicator});
    if (((i - at_home) & mask) >= ((i - hole) & mask)) {
      far_[hole] = far_[i];
      far_[i].last = kNone;
      hole = i;
    }
  }
}

}  // namespace weft::sim
