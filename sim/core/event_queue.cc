#include "sim/core/event_queue.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::sim {
namespace {
struct After {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};
struct Before {
  bool operator()(const Event& a, const Event& b) const { return a.before(b); }
};

constexpr std::size_t kFewEvents = 32;
constexpr std::size_t kManyEvents = 256;
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

// Sorts a bucket of many events by numbers of one word: time within the bucket, source, place in the bucket.
// They go through a radix sort, whose branches don't depend on them; then each event is copied once, to where
// it belongs. Of the thread and not of the queue, so that partitions which take turns find its memory in the
// cache.
class RadixSort {
 public:
  // Writes the events in order to `sorted`. False, and nothing written, where the numbers don't fit a word.
  bool sort(const std::vector<Event>& events, std::int64_t start_ps, int time_bits,
            std::vector<Event>& sorted) {
    const int source_bits = bits_of_sources(events);
    const int bits = time_bits + source_bits;
    if (bits > kKeyBits || events.size() >> kPlaceBits != 0) return false;
    if (events.size() < 2048 && bits <= 32) {
      order<8>(events, start_ps, source_bits, bits);
    } else {
      order<11>(events, start_ps, source_bits, bits);
    }
    sorted.resize(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) sorted[i] = events[words_[i] & kPlaceMask];
    order_equals(sorted);
    return true;
  }

 private:
  static constexpr int kPlaceBits = 20, kKeyBits = 44;
  static constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
  static constexpr EntityId kUpper = EntityId{1} << 31;

  // Sources with the uppermost bit count from there on (Engine::add_counting_entities), all others from 0:
  // without what lies between they take this bit and as many more as returned, less one.
  static int bits_of_sources(const std::vector<Event>& events) {
    EntityId any = 0;
    for (const Event& event : events) any |= event.source & ~kUpper;
    return std::bit_width(any) + 1;
  }
  // By digits of so many bits, the lowest first: the fewer events, the smaller digits pay.
  template <int kDigitBits>
  void order(const std::vector<Event>& events, std::int64_t start_ps, int source_bits, int bits) {
    const int passes = (bits + kDigitBits - 1) / kDigitBits;
    counts_.assign(static_cast<std::size_t>(passes) << kDigitBits, 0);
    words_.resize(events.size());
    other_.resize(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const EntityId source = (event.source & ~kUpper) | (event.source >> 31) << (source_bits - 1);
      const std::uint64_t key = static_cast<std::uint64_t>(event.time_ps - start_ps) << source_bits | source;
      words_[i] = key << kPlaceBits | i;
      for (int pass = 0; pass < passes; ++pass) ++counts_[digit<kDigitBits>(key, pass)];
    }
    for (int pass = 0; pass < passes; ++pass) spread<kDigitBits>(pass);
  }
  // Where a digit is counted.
  template <int kDigitBits>
  static std::size_t digit(std::uint64_t key, int pass) {
    constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
    return static_cast<std::size_t>(pass) * kDigits + (key >> (pass * kDigitBits) & (kDigits - 1));
  }
  template <int kDigitBits>
  void spread(int pass) {
    std::uint32_t* const counts = counts_.data() + (static_cast<std::size_t>(pass) << kDigitBits);
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < std::size_t{1} << kDigitBits; ++i) before += std::exchange(counts[i], before);
    for (const std::uint64_t word : words_) {
      other_[counts_[digit<kDigitBits>(word >> kPlaceBits, pass)]++] = word;
    }
    words_.swap(other_);
  }
  // Those of one source and moment, which are few, by their sequence.
  void order_equals(std::vector<Event>& sorted) const {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if ((words_[i - 1] ^ words_[i]) >> kPlaceBits != 0) [[likely]]
        continue;
      const std::size_t first = i - 1;
      while (i < words_.size() && (words_[first] ^ words_[i]) >> kPlaceBits == 0) ++i;
      sort_few(sorted.data() + first, sorted.data() + i);
    }
  }

  std::vector<std::uint64_t> words_, other_;
  std::vector<std::uint32_t> counts_;
};

thread_local RadixSort radix_sort;

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
  if (size >= kManyEvents && radix_sort.sort(draining_, current_ << shift_, shift_, scratch_)) {
    draining_.swap(scratch_);
    return;
  }
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
