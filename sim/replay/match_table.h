// Matching without wildcards: what waits for its other half at one rank, found by source, tag and
// communicator.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/units/large_pages.h"

namespace weft::sim {

// What a receive asks for and a message carries, and what waits with it.
struct MatchEntry {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Key {
    std::uint32_t source = 0, tag = 0, communicator = 0;  // the communicator's number is below 2^31
  };
  std::uint32_t source = 0, tag = 0;
  std::uint32_t communicator : 31 = 0;
  std::uint32_t of_messages : 1 = 0;  // do messages wait, or receives?
  std::uint32_t last = kNone;         // the youngest; its link leads to the oldest. kNone: free
  Key key() const { return {source, tag, communicator}; }
  bool is(const Key& key) const {
    return source == key.source && tag == key.tag && communicator == key.communicator && last != kNone;
  }
};

// Where the tables of many ranks grow: in large pages, as they are visited at random. Memory that a small
// table has outgrown serves others; that of a large one (128 KiB) goes back to the system.
class MatchTableMemory {
 public:
  // Free entries. REQUIRES: `capacity` is a power of two.
  MatchEntry* take(std::uint32_t capacity);
  void give_back(MatchEntry* entries, std::uint32_t capacity);
  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kLarge = 1 << 13;
  std::vector<LargeVector<MatchEntry>> large_;  // of one table each
  std::vector<LargeVector<MatchEntry>> chunks_;
  std::size_t used_ = 0;  // of the last chunk
  std::uint64_t bytes_ = 0;
  std::array<std::vector<MatchEntry*>, 32> free_;  // by the binary logarithm of the capacity
};

// Without wildcards a receive and a message fit if their keys are equal. So for each key either receives or
// messages wait, never both, and the first to come is the first to be taken. Three keys have their place in
// this cache line, others in a hash table of the rank's own, with 21 to 43 bytes for each.
//
// What waits goes by the owner's 32-bit handles. Those with the same key form a circle, through one word for
// each that the owner keeps: `link(handle)` is a reference to it.
class alignas(64) MatchTable {
 public:
  static constexpr std::uint32_t kNone = MatchEntry::kNone;
  using Entry = MatchEntry;
  using Key = MatchEntry::Key;

  // Null if nothing waits with this key. Good until the next change.
  const Entry* find(const Key& key) const {
    for (const Entry& entry : here_) {
      if (entry.is(key)) return &entry;
    }
    return used_ == 0 ? nullptr : find_far(key);
  }
  Entry* find(const Key& key) { return const_cast<Entry*>(std::as_const(*this).find(key)); }
  // REQUIRES: find() gave null.
  template <typename Link>
  void insert(const Key& key, bool of_messages, std::uint32_t handle, MatchTableMemory& memory, Link&& link) {
    link(handle) = handle;
    Entry* place = nullptr;
    for (Entry& entry : here_) {
      if (entry.last == kNone) {
        place = &entry;
        break;
      }
    }
    if (place == nullptr) place = &far_place(key, memory);
    *place = {key.source, key.tag, key.communicator, of_messages, handle};
  }
  // Puts the handle behind those that wait in the entry. REQUIRES: it is of their kind.
  template <typename Link>
  static void append(Entry& entry, std::uint32_t handle, Link&& link) {
    link(handle) = link(entry.last);
    link(entry.last) = handle;
    entry.last = handle;
  }
  // Takes the oldest out.
  template <typename Link>
  std::uint32_t take(Entry& entry, Link&& link) {
    const std::uint32_t first = link(entry.last);
    if (first == entry.last) {
      remove(entry);
    } else {
      link(entry.last) = link(first);
    }
    return first;
  }
  // Calls visit(entry) for each key, in no order to rely on.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : here_) {
      if (entry.last != kNone) visit(entry);
    }
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      if (far_[i].last != kNone) visit(far_[i]);
    }
  }
  // Does any key wait outside of this cache line?
  bool has_far() const { return used_ > 0; }
  // Fetches into the cache where the key would be, for when it is looked for. REQUIRES: has_far().
  void prefetch(const Key& key) const { __builtin_prefetch(&far_[home(key)], 1); }

 private:
  static constexpr std::uint32_t kHere = 3;
  std::uint32_t home(const Key& key) const {
    // Four neighbours in rank share a cache line: mostly they come one after another. More in a row would
    // lie in the way of others.
    const std::uint64_t hash =
        ((key.source >> 2) + key.tag * 0x9E3779B97F4A7C15ULL + key.communicator * 0x85EBCA6BULL) *
        0xD1B54A32D192ED03ULL;
    return (static_cast<std::uint32_t>(hash >> 32) << 2 | (key.source & 3)) & (capacity_ - 1);
  }
  std::uint32_t distance_from_home(std::uint32_t place) const {
    return (place - home(far_[place].key())) & (capacity_ - 1);
  }
  const Entry* find_far(const Key& key) const;
  Entry& far_place(const Key& key, MatchTableMemory& memory);
  Entry& far_place(const Key& key);  // REQUIRES: there is room
  void remove(Entry& entry);

  Entry here_[kHere];
  Entry* far_ = nullptr;        // open addressing
  std::uint32_t capacity_ = 0;  // a power of two
  std::uint32_t used_ = 0;
};
static_assert(sizeof(MatchTable) == 64);

}  // namespace weft::sim
