// A priority queue of events for one partition: a calendar of buckets, each sorted when its time comes.
//
// Source: R. Brown, "Calendar queues: a fast O(1) priority queue implementation", CACM 31(10), 1988; sorting
// a bucket once, when it is drained, follows the ladder queue (Tang, Goh, Thng, ACM TOMACS 15(3), 2005).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/event.h"

namespace weft::sim {

// Has std::vector leave new elements as they are, for whoever adds them to write once.
template <typename T>
struct Unwritten : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = Unwritten<U>;
  };
  template <typename U>
  void construct(U*) noexcept {}
  template <typename U, typename... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }
};
using EventList = std::vector<Event, Unwritten<Event>>;

// Not thread-safe: one per partition. Pushing into the past (before the last popped event) is a bug; pushing
// at the same time is fine and ordered by (source, sequence) among the events not yet popped.
class EventQueue {
 public:
  // `bucket_shift`: a bucket spans 2^shift picoseconds (15: 32.8 ns). There are 4,096 buckets; events beyond
  // them wait in a heap. The choice changes speed only, never order.
  explicit EventQueue(int bucket_shift = 15);
  ~EventQueue();

  void push(const Event& event) {
    push(event.time_ps, event.sequence, event.source, event.payload, event.kind, event.detail);
  }
  // The event member by member, so that it stays in registers until it is written where it belongs: one that
  // has to be put together in memory first, to be copied from there, waits for that.
  void push(std::int64_t time_ps, std::uint32_t sequence, EntityId source, std::uint32_t payload,
            std::uint16_t kind, std::uint16_t detail) {
    ++size_;
    const std::int64_t bucket = time_ps >> shift_;
    if (static_cast<std::uint64_t>(bucket - current_ - 1) < kBuckets - 1) [[likely]] {
      const std::size_t slot = static_cast<std::size_t>(bucket) & (kBuckets - 1);
      add(slot, time_ps, sequence, source, payload, kind, detail);
    } else {
      push_rare(time_ps, sequence, source, payload, kind, detail);
    }
  }
  // Takes the least event. False if there is none.
  bool pop(Event& out) {
    const Event* event = pop_before(INT64_MAX);
    if (event != nullptr) out = *event;
    return event != nullptr;
  }
  // Takes the least event if its time is below `limit_ps`; null if there is none. Good until the next pop.
  const Event* pop_before(std::int64_t limit_ps) {
    for (;;) {
      if (next_ != end_) [[likely]] {
        if (late_.empty() || next_->before(late_.front())) [[likely]] {
          if (next_->time_ps >= limit_ps) return nullptr;
          --size_;
          return next_++;
        }
        return pop_late(limit_ps);
      }
      if (!late_.empty()) return pop_late(limit_ps);
      if (!advance()) return nullptr;
    }
  }
  // Time of the least event in picoseconds, INT64_MAX if there is none.
  std::int64_t next_time_ps() {
    if (next_ == end_ && late_.empty() && !advance()) return INT64_MAX;
    if (next_ == end_) return late_.front().time_ps;
    return late_.empty() ? next_->time_ps : std::min(next_->time_ps, late_.front().time_ps);
  }

  // An event that will be popped soon, about `distance` pops from now, or null: a hint for prefetching. Good
  // until the next push or pop.
  const Event* upcoming(std::size_t distance) const {
    const auto left = reinterpret_cast<const char*>(end_) - reinterpret_cast<const char*>(next_);
    return left > static_cast<std::ptrdiff_t>(distance * sizeof(Event)) ? next_ + distance : nullptr;
  }
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr std::int64_t kBuckets = 4096;

  // Buckets that fill side by side, some for long, have their memory in pieces: it is as much as there are
  // events, and those of a drained bucket are used next, while they are in the cache.
  class Chunks;
  struct Bucket {
    Event* next = nullptr;   // where its next event goes,
    Event* limit = nullptr;  // unless its last chunk ends there
    std::uint32_t first = 0, last = 0, chunks = 0;
  };

  void add(std::size_t slot, std::int64_t time_ps, std::uint32_t sequence, EntityId source,
           std::uint32_t payload, std::uint16_t kind, std::uint16_t detail) {
    Bucket& bucket = buckets_[slot];
    if (bucket.next == bucket.limit) [[unlikely]]
      extend(slot);
    Event& added = *bucket.next++;
    added.time_ps = time_ps;
    added.sequence = sequence;
    added.source = source;
    added.payload = payload;
    added.kind = kind;
    added.detail = detail;
    __builtin_prefetch(&added + 5, 1);  // of its next events: many buckets fill at once
  }
  void extend(std::size_t slot);
  void push_rare(std::int64_t time_ps, std::uint32_t sequence, EntityId source, std::uint32_t payload,
                 std::uint16_t kind, std::uint16_t detail);
  const Event* pop_late(std::int64_t limit_ps);
  bool advance();  // makes the next non-empty bucket the one that is drained
  void drain(const Bucket& bucket);
  void spread_draining();

  int shift_;
  std::int64_t current_ = -1;  // number of the bucket being drained
  std::uint64_t size_ = 0;
  EventList draining_;           // the current bucket, sorted
  const Event* next_ = nullptr;  // the next of its events
  const Event* end_ = nullptr;
  EventList scratch_;
  std::vector<std::uint32_t> counts_;
  std::unique_ptr<Chunks> chunks_;
  Event popped_late_;
  EventList late_;  // heap: pushed into the current bucket while it is drained
  EventList far_;   // heap: beyond the last bucket
  std::vector<Bucket> buckets_;
  std::array<std::uint64_t, kBuckets / 64> occupied_{};
};

}  // namespace weft::sim
