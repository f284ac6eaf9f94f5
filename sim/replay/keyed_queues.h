// First-in-first-out queues found by key, for what waits at ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/replay/chunks.h"

namespace weft::sim {

// A value waits in the queue of its key, found in constant time, and in the list of its rank, in the order in
// which they came. No allocation once the pools have grown. An entry takes key, value and 16 bytes, and in
// the table 5 to 11 bytes for each key.
//
// A Key has `rank`, ==, and hash(). Stamp: an unsigned type with a value for each entry of a rank.
template <typename Key, typename Value, typename Stamp = std::uint32_t>
class KeyedQueues {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Entry {
    Key key;
    Value value;
    Stamp stamp;                             // ascends within a rank; the numbers may change with a push
    std::uint32_t next;                      // in its keyed queue, whose last leads to the first; or free
    std::uint32_t rank_previous, rank_next;  // in its rank's list; `previous` of the first is the last
  };

  explicit KeyedQueues(std::uint32_t ranks) : slots_(16, kNone), first_(ranks, kNone) {}

  void push(const Key& key, const Value& value) {
    if ((used_slots_ + 1) * 4 > slots_.size() * 3) grow();
    std::uint32_t index = free_;
    if (index == kNone) {
      index = pool_.size();
      pool_.push_back({});
    } else {
      free_ = pool_[index].next;
    }
    pool_[index] = {key, value, 0, index, index, kNone};
    append_to_rank(index);
    std::uint32_t& last = slots_[find_slot(key)];
    if (last == kNone) {
      ++used_slots_;
    } else {
      pool_[index].next = pool_[last].next;
      pool_[last].next = index;
    }
    last = index;
    ++size_;
  }
  // The oldest entry with exactly this key, or kNone.
  std::uint32_t front(const Key& key) const {
    const std::uint32_t last = slots_[find_slot(key)];
    return last == kNone ? kNone : pool_[last].next;
  }
  // Fetches what front() will look at first.
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[home(key)]); }
  // The oldest entry of the rank; rank_next leads to its successors.
  std::uint32_t first_of_rank(std::uint32_t rank) const { return first_[rank]; }
  const Entry& entry(std::uint32_t index) const { return pool_[index]; }
  // Takes an entry out. REQUIRES: it is the oldest with its key.
  Value take(std::uint32_t index) {
    Entry& entry = pool_[index];
    const std::size_t slot = find_slot(entry.key);
    if (slots_[slot] == index) {
      erase_slot(slot);
    } else {
      pool_[slots_[slot]].next = entry.next;
    }
    std::uint32_t& first = first_[entry.key.rank];
    if (entry.rank_next != kNone) {
      pool_[entry.rank_next].rank_previous = entry.rank_previous;
    } else {
      pool_[first].rank_previous = entry.rank_previous;
    }
    (index == first ? first : pool_[entry.rank_previous].rank_next) = entry.rank_next;
    entry.next = free_;
    free_ = index;
    --size_;
    return entry.value;
  }
  std::uint64_t size() const { return size_; }
  std::uint64_t memory_bytes() const {
    return pool_.memory_bytes() + (slots_.capacity() + first_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  void append_to_rank(std::uint32_t index) {
    std::uint32_t& first = first_[pool_[index].key.rank];
    if (first == kNone) {
      first = index;
      return;
    }
    const std::uint32_t last = pool_[first].rank_previous;
    if (pool_[last].stamp == std::numeric_limits<Stamp>::max()) renumber(first);
    pool_[index].stamp = pool_[last].stamp + 1;
    pool_[index].rank_previous = last;
    pool_[last].rank_next = index;
    pool_[first].rank_previous = index;
  }
  void renumber(std::uint32_t first) {
    Stamp stamp = 0;
    for (std::uint32_t i = first; i != kNone; i = pool_[i].rank_next) pool_[i].stamp = stamp++;
  }
  std::size_t home(const Key& key) const { return key.hash() & (slots_.size() - 1); }
  // The key's slot, or the empty one where it belongs.
  std::size_t find_slot(const Key& key) const {
    std::size_t slot = home(key);
    while (slots_[slot] != kNone && !(pool_[slots_[slot]].key == key)) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }
  void grow() {
    std::vector<std::uint32_t> old(slots_.size() * 2, kNone);
    old.swap(slots_);
    for (const std::uint32_t last : old) {
      if (last != kNone) slots_[find_slot(pool_[last].key)] = last;
    }
  }
  // Backward-shift deletion keeps probe sequences unbroken without tombstones (Knuth, TAOCP 3, 6.4 R).
  void erase_slot(std::size_t hole) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i] != kNone; i = (i + 1) & mask) {
      const std::size_t at_home = home(pool_[slots_[i]].key);
      if (((i - at_home) & mask) >= ((i - hole) & mask)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = kNone;
    --used_slots_;
  }

  std::vector<std::uint32_t> slots_;  // the youngest entry of each queue; open addressing
  std::size_t used_slots_ = 0;
  Chunks<Entry> pool_;
  std::uint32_t free_ = kNone;
  std::uint64_t size_ = 0;
  std::vector<std::uint32_t> first_;  // of each rank
};

}  // namespace weft::sim
