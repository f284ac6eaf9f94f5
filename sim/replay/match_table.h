// Matching without wildcards: what waits for its other half at one rank, found by source, tag and
// communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace weft::sim {

// Without wildcards a receive and a message fit if their keys are equal. So for each key either receives or
// messages wait, never both, and the first to come is the first to be taken. Three keys have their place in
// this cache line, others in a hash table of the rank's own, with 21 to 43 bytes for each.
//
// What waits goes by the owner's 32-bit handles. Those with the same key form a circle, through one word for
// each that the owner keeps: `link(handle)` is a reference to it.
class alignas(64) MatchTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Key {
    std::uint32_t source = 0, tag = 0, communicator = 0;  // the communicator's number is below 2^31
  };
  struct Entry {
    std::uint32_t source = 0, tag = 0;
    std::uint32_t communicator : 31 = 0;
    std::uint32_t of_messages : 1 = 0;  // do messages wait, or receives?
    std::uint32_t last = kNone;         // the youngest; its link leads to the oldest. kNone: free
    bool is(const Key& key) const {
      return source == key.source && tag == key.tag && communicator == key.communicator && last != kNone;
    }
  };

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
  void insert(const Key& key, bool of_messages, std::uint32_t handle, Link&& link) {
    link(handle) = handle;
    Entry* place = nullptr;
    for (Entry& entry : here_) {
      if (entry.last == kNone) {
        place = &entry;
        break;
      }
    }
    if (place == nullptr) place = &far_place(key);
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
  std::uint64_t memory_bytes() const { return sizeof(*this) + capacity_ * sizeof(Entry); }
  // Fetches into the cache where the key would be, for when it is looked for.
  void prefetch(const Key& key) const {
    if (used_ > 0) __builtin_prefetch(&far_[home(key)], 1);
  }

 private:
  static constexpr std::uint32_t kHere = 3;
  std::uint32_t home(const Key& key) const {
    const std::uint64_t hash =
        (key.source + key.tag * 0x9E3779B97F4A7C15ULL + key.communicator * 0x85EBCA6BULL) *
        0xD1B54A32D192ED03ULL;
    return static_cast<std::uint32_t>(hash >> 32) & (capacity_ - 1);
  }
  const Entry* find_far(const Key& key) const;
  Entry& far_place(const Key& key);
  void remove(Entry& entry);

  Entry here_[kHere];
  std::unique_ptr<Entry[]> far_;  // open addressing; null at first
  std::uint32_t capacity_ = 0;    // a power of two
  std::uint32_t used_ = 0;
};
static_assert(sizeof(MatchTable) == 64);

}  // namespace weft::sim
