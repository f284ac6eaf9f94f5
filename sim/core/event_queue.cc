#include "sim/core/event_queue.h"

#include <algorithm>

namespace weft::sim {
namespace {
struct After {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};
struct Before {
  bool operator()(const Event& a, const Event& b) const { return a.before(b); }
};
}  // namespace

EventQueue::EventQueue(int bucket_shift) : shift_(bucket_shift), buckets_(kBuckets) {}

void EventQueue::push_rare(const Event& event, std::int64_t bucket) {
  std::vector<Event>& heap = bucket <= current_ ? late_ : far_;
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), After());
}

bool EventQueue::pop_late(Event& out, std::int64_t limit_ps) {
  if (late_.front().time_ps >= limit_ps) return false;
  std::pop_heap(late_.begin(), late_.end(), After());
  out = late_.back();
  late_.pop_back();
  --size_;
  return true;
}

bool EventQueue::advance() {
  if (size_ == 0) return false;
  draining_.clear();
  next_ = 0;
  // The nearest occupied bucket after the current one, by words of the bitmap.
  std::int64_t nearest = INT64_MAX;
  const std::size_t start = static_cast<std::size_t>(current_ + 1) & (kBuckets - 1);
  constexpr std::size_t kWords = kBuckets / 64;
  for (std::size_t i = 0; i <= kWords; ++i) {
    const std::size_t word = (start / 64 + i) % kWords;
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= ~std::uint64_t{0} << (start & 63);
    if (i == kWords) bits &= (std::uint64_t{1} << (start & 63)) - 1;
    if (bits != 0) {
      const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      nearest = current_ + 1 + static_cast<std::int64_t>((slot - start) & (kBuckets - 1));
      break;
    }
  }
  if (!far_.empty()) nearest = std::min(nearest, far_.front().time_ps >> shift_);
  current_ = nearest;
  const std::size_t slot = static_cast<std::size_t>(current_) & (kBuckets - 1);
  draining_.swap(buckets_[slot]);
  occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  // Far events that the calendar now reaches.
  while (!far_.empty() && (far_.front().time_ps >> shift_) - current_ < kBuckets) {
    std::pop_heap(far_.begin(), far_.end(), After());
    const Event event = far_.back();
    far_.pop_back();
    const std::int64_t bucket = event.time_ps >> shift_;
    if (bucket == current_) {
      draining_.push_back(event);
    } else {
      const std::size_t to = static_cast<std::size_t>(bucket) & (kBuckets - 1);
      buckets_[to].push_back(event);
      occupied_[to >> 6] |= std::uint64_t{1} << (to & 63);
    }
  }
  std::sort(draining_.begin(), draining_.end(), Before());
  return true;
}

}  // namespace weft::sim
