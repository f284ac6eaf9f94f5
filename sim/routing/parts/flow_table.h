// A switch's table of flows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::routing {

// From FlowRef::identity() to an entry, which has it as `flow`: kNobody where there is none. Open addressing;
// nothing is allocated but when it grows. No entry is taken out, but those that need not be kept are left
// behind then.
template <typename Entry>
class FlowTable {
 public:
  static constexpr std::uint64_t kNobody = UINT64_MAX;

  // Null: it isn't there. Entries move with find_or_add().
  Entry* find(std::uint64_t flow) {
    if (entries_.empty()) return nullptr;
    for (std::size_t place = home(flow);; place = next(place)) {
      Entry& entry = entries_[place];
      if (entry.flow == flow) return &entry;
      if (entry.flow == kNobody) return nullptr;
    }
  }
  // leave(entry): it need not be kept, and is gone if that is true.
  template <typename Leave>
  Entry& find_or_add(std::uint64_t flow, Leave&& leave) {
    if (Entry* const found = find(flow)) return *found;
    if (2 * (used_ + 1) > entries_.size()) rebuild(leave);
    ++used_;
    Entry& entry = free_place(flow);
    entry.flow = flow;
    return entry;
  }
  [[gnu::always_inline]] void prefetch(std::uint64_t flow) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[home(flow)], 1);
  }
  std::size_t size() const { return used_; }

 private:
  std::size_t home(std::uint64_t flow) const { return flow * 0x9E3779B97F4A7C15ULL >> shift_; }
  std::size_t next(std::size_t place) const { return (place + 1) & (entries_.size() - 1); }
  Entry& free_place(std::uint64_t flow) {
    std::size_t place = home(flow);
    while (entries_[place].flow != kNobody) place = next(place);
    return entries_[place];
  }
  // A quarter full at most, so that it is seldom.
  template <typename Leave>
  void rebuild(Leave&& leave) {
    std::vector<Entry> kept;
    for (Entry& entry : entries_) {
      if (entry.flow != kNobody && !leave(entry)) kept.push_back(entry);
    }
    entries_.assign(std::bit_ceil(4 * (kept.size() + 4)), Entry());
    shift_ = 64 - std::countr_zero(entries_.size());
    used_ = kept.size();
    for (const Entry& entry : kept) free_place(entry.flow) = entry;
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  int shift_ = 63;
};

}  // namespace weft::routing
