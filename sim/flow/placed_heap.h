// A heap that knows where each of its items is, so that any can be taken out, or get another key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::sim::flow {

// With four branches. Source: D. B. Johnson, "Priority queues with update and finding minimum spanning
// trees", IPL 4(3), 1975. Items are numbers; `place` gives for each a reference to the std::uint32_t in which
// the heap keeps its place, kOut while it is in none. Several heaps may share them, each item being in one at
// most. Which of equal keys is first is of no meaning.
template <typename Key>
class PlacedHeap {
 public:
  static constexpr std::uint32_t kOut = UINT32_MAX;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  // REQUIRES: not empty.
  const Key& first_key() const { return entries_.front().key; }
  std::uint32_t first() const { return entries_.front().item; }
  // Gives the key of the item at this place.
  const Key& key(std::uint32_t place) const { return entries_[place].key; }

  // Puts it in, or gives it another key.
  template <typename Place>
  void set(std::uint32_t item, Key key, Place&& place) {
    const std::size_t known = place(item);
    if (known == kOut) {
      entries_.push_back({key, item});
      rise(entries_.size() - 1, place);
      return;
    }
    const bool earlier = key < entries_[known].key;
    entries_[known].key = key;
    if (earlier) {
      rise(known, place);
    } else {
      sink(known, place);
    }
  }
  // REQUIRES: it is in.
  template <typename Place>
  void erase(std::uint32_t item, Place&& place) {
    const std::size_t at = place(item);
    place(item) = kOut;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (at == entries_.size()) return;
    entries_[at] = last;
    rise(at, place);
    sink(place(last.item), place);
  }

 private:
  static constexpr std::size_t kBranches = 4;
  struct Entry {
    Key key{};
    std::uint32_t item = 0;
  };

  template <typename Place>
  void put(std::size_t at, const Entry& entry, Place&& place) {
    entries_[at] = entry;
    place(entry.item) = static_cast<std::uint32_t>(at);
  }
  template <typename Place>
  void rise(std::size_t at, Place&& place) {
    const Entry entry = entries_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / kBranches;
      if (!(entry.key < entries_[parent].key)) break;
      put(at, entries_[parent], place);
      at = parent;
    }
    put(at, entry, place);
  }
  template <typename Place>
  void sink(std::size_t at, Place&& place) {
    const Entry entry = entries_[at];
    for (;;) {
      const std::size_t first = at * kBranches + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = first + kBranches < entries_.size() ? first + kBranches : entries_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (entries_[child].key < entries_[least].key) least = child;
      }
      if (!(entries_[least].key < entry.key)) break;
      put(at, entries_[least], place);
      at = least;
    }
    put(at, entry, place);
  }

  std::vector<Entry> entries_;
};

}  // namespace weft::sim::flow
