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

constexpr std::size_t kFewEvents = 32;
constexpr int kMostSlotBits = 14;

// Sorts what is already made of a few ascending runs, as events of the same moment mostly are: in the order
// of their sources. False, and nothing done, if there are more.
// Not inlined: packets, whose events come in no such order, would pay for it.
template <int kMostRuns>
[[gnu::noinline]] bool merge_runs(Event* begin, Event* end) {
  Event* runs[kMostRuns + 1] = {begin};
  int count = 0;
  while (runs[count] != end) {
    if (count == kMostRuns) return false;
    runs[count + 1] = std::is_sorted_until(runs[count], end, Before());
    ++count;
  }
  for (; count > 1; count = (count + 1) / 2) {
    for (int i = 0; i + 1 < count; i += 2) {
      std::inplace_merge(runs[i], runs[i + 1], runs[i + 2], Before());
      runs[i / 2] = runs[i];
    }
    if (count % 2 == 1) runs[count / 2] = runs[count - 1];
    runs[(count + 1) / 2] = end;
  }
  return true;
}

// Is it worth the while to look for runs?
bool begins_ascending(const Event* begin) {
  return !begin[1].before(begin[0]) && !begin[2].before(begin[1]) && !begin[3].before(begin[2]) &&
         !begin[4].before(begin[3]);
}

// Insertion sort, unless ties or a skewed bucket have put many events into one slot.
void sort_few(Event* begin, Event* end) {
  if (end - begin > 24) {
    if (!begins_ascending(begin) || !merge_runs<16>(begin, end)) std::sort(begin, end, Before());
    return;
  }
  for (Event* next = begin + 1; next < end; ++next) {
    const Event event = *next;
    Event* hole = next;
    for (; hole > begin && event.before(hole[-1]); --hole) *hole = hole[-1];
    *hole = event;
  }
}

}  // namespace

EventQueue::EventQueue(int bucket_shift) : shift_(bucket_shift), buckets_(kBuckets) {}

void EventQueue::push_rare(Event event, std::int64_t bucket) {
  std::vector<Event>& heap = bucket <= current_ ? late_ : far_;
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), After());
}

const Event* EventQueue::pop_late(std::int64_t limit_ps) {
  if (late_.front().time_ps >= limit_ps) return nullptr;
  std::pop_heap(late_.begin(), late_.end(), After());
  popped_late_ = late_.back();
  late_.pop_back();
  --size_;
  return &popped_late_;
}

bool EventQueue::advance() {
  if (size_ == 0) return false;
  draining_.clear();
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
  if (!buckets_[slot].empty()) {
    if (draining_.capacity() > 0) spare_.push_back(std::move(draining_));
    draining_ = std::exchange(buckets_[slot], {});
  }
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
      add(to, event);
    }
  }
  sort_draining();
  next_ = draining_.data();
  end_ = next_ + draining_.size();
  return true;
}

// A big bucket is first spread over about one slot per event by the upper bits of the time within it (a
// counting sort), which leaves only neighbours to be put in order.
void EventQueue::sort_draining() {
  const std::size_t size = draining_.size();
  if (size < kFewEvents) {
    std::sort(draining_.begin(), draining_.end(), Before());
    return;
  }
  if (begins_ascending(draining_.data()) && merge_runs<2>(draining_.data(), draining_.data() + size)) return;
  const int bits = std::min({shift_, static_cast<int>(std::bit_width(size)), kMostSlotBits});
  const int low_bits = shift_ - bits;
  const std::int64_t start = current_ << shift_;
  const auto slot_of = [&](const Event& event) {
    return static_cast<std::size_t>((event.time_ps - start) >> low_bits);
  };
  counts_.assign((std::size_t{1} << bits) + 1, 0);
  for (const Event& event : draining_) ++counts_[slot_of(event) + 1];
  for (std::size_t i = 1; i < counts_.size(); ++i) counts_[i] += counts_[i - 1];
  scratch_.resize(size);
  for (const Event& event : draining_) scratch_[counts_[slot_of(event)]++] = event;
  draining_.swap(scratch_);
  // Each count is now the end of its slot.
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < counts_.size(); ++i) {
    const std::size_t end = counts_[i];
    if (end - begin > 1) sort_few(draining_.data() + begin, draining_.data() + end);
    begin = end;
  }
}

}  // namespace weft::sim
