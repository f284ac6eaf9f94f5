#include "sim/core/event_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

// An odd number of cache lines, so that beginnings of chunks don't compete for the same places in the cache.
constexpr std::size_t kChunkLines = 17, kChunkEvents = 45;
struct alignas(64) Chunk {
  Event events[kChunkEvents];
};
static_assert(sizeof(Chunk) == kChunkLines * 64);

// A bucket's events where they were pushed: all chunks but the last are full.
struct Pieces {
  std::vector<const Chunk*> chunks;
  std::size_t size = 0;

  const Event* first() const { return chunks.front()->events; }
  // Calls see(event, chunk, place in the chunk) for each.
  template <typename See>
  void each(const See& see) const {
    std::size_t left = size;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      const Event* const events = chunks[c]->events;
      const std::size_t count = std::min(left, kChunkEvents);
      for (std::size_t i = 0; i < count; ++i) see(events[i], c, i);
      left -= count;
    }
  }
  void copy(EventList& to) const {
    to.resize(size);
    std::size_t done = 0;
    for (const Chunk* chunk : chunks) {
      const std::size_t count = std::min(size - done, kChunkEvents);
      std::memcpy(to.data() + done, chunk->events, count * sizeof(Event));
      done += count;
    }
  }
};

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
  // REQUIRES: none is before `start_ps`.
  bool sort(const Pieces& events, std::int64_t start_ps, EventList& sorted) {
    if (events.chunks.size() >> (kPlaceBits - kOffsetBits) != 0) return false;
    measure(events, start_ps);
    const int bits = time_bits_ + source_bits_ + upper_bits_;
    if (bits > kKeyBits) return false;
    sorted.resize(events.size);
    switch (passes_for(bits, events.size)) {
      case 2:
        place<2>(events, start_ps, bits, sorted);
        break;
      case 3:
        place<3>(events, start_ps, bits, sorted);
        break;
      case 4:
        place<4>(events, start_ps, bits, sorted);
        break;
      default:
        place<kMostPasses>(events, start_ps, bits, sorted);
    }
    order_equals(sorted);
    return true;
  }

 private:
  static constexpr int kPlaceBits = 20, kKeyBits = 44, kMostPasses = 5, kMostDigitBits = 11;
  static constexpr int kOffsetBits = std::bit_width(kChunkEvents - 1);  // the lowest of a place
  static constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
  static constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
  static constexpr EntityId kUpper = EntityId{1} << 31;

  // Finds which bits tell the events apart. Times are often all multiples of a power of two: those of a
  // byte's time on the wire. Sources with the uppermost bit count from there on
  // (Engine::add_counting_entities), all others from 0, so that what lies between is left out.
  void measure(const Pieces& events, std::int64_t start_ps) {
    std::uint64_t any_time = 0;
    EntityId any = 0, all = UINT32_MAX;
    events.each([&](const Event& event, std::size_t, std::size_t) {
      any_time |= static_cast<std::uint64_t>(event.time_ps - start_ps);
      any |= event.source;
      all &= event.source;
    });
    time_shift_ = any_time == 0 ? 0 : std::countr_zero(any_time);
    time_bits_ = std::bit_width(any_time >> time_shift_);
    source_bits_ = std::bit_width((any ^ all) & ~kUpper);
    upper_bits_ = ((any ^ all) & kUpper) != 0 ? 1 : 0;
  }
  // The number of passes that costs least: the more there are, the smaller the digits, and the fewer counts
  // that have to be added up.
  static int passes_for(int bits, std::size_t events) {
    int best = kMostPasses;
    std::size_t least = SIZE_MAX;
    for (int passes = 2; passes <= kMostPasses; ++passes) {
      const int digit_bits = digit_bits_for(bits, passes);
      if (digit_bits > kMostDigitBits) continue;
      const std::size_t cost =
          static_cast<std::size_t>(passes) * (3 * events + (std::size_t{1} << digit_bits));
      if (cost < least) {
        least = cost;
        best = passes;
      }
    }
    return best;
  }
  static int digit_bits_for(int bits, int passes) { return std::max((bits + passes - 1) / passes, 1); }

  // By digits, the lowest first; the last pass puts the events themselves where they belong.
  template <int kPasses>
  void place(const Pieces& events, std::int64_t start_ps, int bits, EventList& sorted) {
    const int digit_bits = digit_bits_for(bits, kPasses);
    const std::size_t digits = std::size_t{1} << digit_bits;
    const std::uint64_t mask = digits - 1;
    counts_.assign(kPasses * digits, 0);
    words_.resize(events.size);
    other_.resize(events.size);
    std::uint32_t* const counts = counts_.data();
    std::uint64_t* const words = words_.data();
    const EntityId source_mask = static_cast<EntityId>((std::uint64_t{1} << source_bits_) - 1);
    const int upper_shift = 31 - source_bits_;
    const EntityId upper_mask = upper_bits_ != 0 ? kUpper : 0;
    const int time_shift = time_shift_, key_shift = source_bits_ + upper_bits_;
    std::uint64_t* next_word = words;
    events.each([&](const Event& event, std::size_t chunk, std::size_t offset) {
      const EntityId source = (event.source & source_mask) | (event.source & upper_mask) >> upper_shift;
      const std::uint64_t time = static_cast<std::uint64_t>(event.time_ps - start_ps) >> time_shift;
      std::uint64_t key = time << key_shift | source;
      *next_word++ = key << kPlaceBits | chunk << kOffsetBits | offset;
      for (int pass = 0; pass < kPasses; ++pass) {
        ++counts[static_cast<std::size_t>(pass) * digits + (key & mask)];
        key >>= digit_bits;
      }
    });
    for (int pass = 0; pass < kPasses; ++pass) {
      std::uint32_t before = 0;
      std::uint32_t* const of_pass = counts + static_cast<std::size_t>(pass) * digits;
      for (std::size_t i = 0; i < digits; ++i) before += std::exchange(of_pass[i], before);
    }
    const std::uint64_t *from = words, *const end = words + events.size;
    std::uint64_t* to = other_.data();
    int shift = kPlaceBits;
    for (int pass = 0; pass + 1 < kPasses; ++pass, shift += digit_bits) {
      std::uint32_t* const of_pass = counts + static_cast<std::size_t>(pass) * digits;
      const std::uint64_t* const last = from + events.size;
      for (const std::uint64_t* word = from; word != last; ++word)
        to[of_pass[*word >> shift & mask]++] = *word;
      from = std::exchange(to, const_cast<std::uint64_t*>(from));
    }
    std::uint32_t* const of_pass = counts + static_cast<std::size_t>(kPasses - 1) * digits;
    const std::uint64_t* const last = from + (end - words);
    const Chunk* const* const chunks = events.chunks.data();
    for (const std::uint64_t* word = from; word != last; ++word) {
      const std::size_t place = *word & kPlaceMask;
      sorted[of_pass[*word >> shift]++] = chunks[place >> kOffsetBits]->events[place & kOffsetMask];
    }
  }
  // Those of one source and moment, which are few, by their sequence.
  static void order_equals(EventList& sorted) {
    const auto equal = [](const Event& a, const Event& b) {
      return (static_cast<std::uint64_t>(a.time_ps ^ b.time_ps) | (a.source ^ b.source)) == 0;
    };
    Event* const end = sorted.data() + sorted.size();
    for (Event* event = sorted.data() + 1; event < end; ++event) {
      if (!equal(event[-1], *event)) [[likely]]
        continue;
      Event* const first = event - 1;
      while (event != end && equal(*first, *event)) ++event;
      sort_few(first, event);
    }
  }

  int time_shift_ = 0, time_bits_ = 0, source_bits_ = 0, upper_bits_ = 0;
  std::vector<std::uint64_t, Unwritten<std::uint64_t>> words_, other_;
  std::vector<std::uint32_t> counts_;
};

thread_local RadixSort radix_sort;

}  // namespace

// Chunks by number, and which follows which: in a bucket, or among those that are free. That is kept apart
// from them, so that the way through a bucket isn't one of loads that wait for each other.
class EventQueue::Chunks {
 public:
  std::uint32_t take() {
    if (free_ == kNone) [[unlikely]]
      make();
    const std::uint32_t chunk = free_;
    free_ = next_[chunk];
    // What the next bucket that is full will take.
    if (free_ != kNone) __builtin_prefetch(&at(free_), 1);
    return chunk;
  }
  Chunk& at(std::uint32_t chunk) { return slabs_[chunk / kOfSlab][chunk % kOfSlab]; }
  void join(std::uint32_t chunk, std::uint32_t behind) { next_[chunk] = behind; }
  // Finds where the bucket's events are. Good until chunks are given back and taken again.
  const Pieces& pieces(const Bucket& bucket) {
    pieces_.chunks.clear();
    std::uint32_t chunk = bucket.first;
    for (std::uint32_t i = 0; i < bucket.chunks; ++i, chunk = next_[chunk]) {
      const Chunk& found = at(chunk);
      for (std::size_t line = 0; line < kChunkLines; ++line) {
        __builtin_prefetch(reinterpret_cast<const char*>(&found) + line * 64, 0, 2);
      }
      pieces_.chunks.push_back(&found);
    }
    pieces_.size = bucket.chunks * kChunkEvents - static_cast<std::size_t>(bucket.limit - bucket.next);
    return pieces_;
  }
  void give_back(const Bucket& bucket) {
    next_[bucket.last] = free_;
    free_ = bucket.first;
  }

 private:
  static constexpr std::uint32_t kOfSlab = 64, kNone = UINT32_MAX;

  void make() {
    const auto first = static_cast<std::uint32_t>(next_.size());
    slabs_.emplace_back(kOfSlab);
    for (std::uint32_t i = 1; i <= kOfSlab; ++i) next_.push_back(i < kOfSlab ? first + i : kNone);
    free_ = first;
  }

  std::vector<std::vector<Chunk, Unwritten<Chunk>>> slabs_;
  std::vector<std::uint32_t> next_;
  std::uint32_t free_ = kNone;
  Pieces pieces_;
};

EventQueue::EventQueue(int bucket_shift)
    : shift_(bucket_shift), chunks_(std::make_unique<Chunks>()), buckets_(kBuckets) {}
EventQueue::~EventQueue() = default;

// The bucket has no chunk yet, or its last one is full.
void EventQueue::extend(std::size_t slot) {
  Bucket& bucket = buckets_[slot];
  const std::uint32_t chunk = chunks_->take();
  if (bucket.chunks++ == 0) {
    bucket.first = chunk;
    occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
  } else {
    chunks_->join(bucket.last, chunk);
  }
  bucket.last = chunk;
  bucket.next = chunks_->at(chunk).events;
  bucket.limit = bucket.next + kChunkEvents;
}

void EventQueue::push_rare(std::int64_t time_ps, std::uint32_t sequence, EntityId source,
                           std::uint32_t payload, std::uint16_t kind, std::uint16_t detail) {
  EventList& heap = time_ps >> shift_ <= current_ ? late_ : far_;
  heap.push_back({time_ps, sequence, source, payload, kind, detail});
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
  // Far events that the calendar now reaches.
  while (!far_.empty() && (far_.front().time_ps >> shift_) - current_ < kBuckets) {
    std::pop_heap(far_.begin(), far_.end(), After());
    const Event event = far_.back();
    far_.pop_back();
    const std::size_t to = static_cast<std::size_t>(event.time_ps >> shift_) & (kBuckets - 1);
    add(to, event.time_ps, event.sequence, event.source, event.payload, event.kind, event.detail);
  }
  const std::size_t slot = static_cast<std::size_t>(current_) & (kBuckets - 1);
  occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  drain(std::exchange(buckets_[slot], {}));
  next_ = draining_.data();
  end_ = next_ + draining_.size();
  return true;
}

// Sorts the bucket's events. REQUIRES: it has some.
void EventQueue::drain(const Bucket& bucket) {
  const Pieces& pieces = chunks_->pieces(bucket);
  const std::size_t size = pieces.size;
  const bool ascending = size >= kFewEvents && begins_ascending(pieces.first());
  if (ascending || size < kManyEvents) pieces.copy(draining_);
  if (size < kFewEvents) {
    std::sort(draining_.begin(), draining_.end(), Before());
  } else if (!ascending || !merge_runs<2>(draining_.data(), draining_.data() + size)) {
    if (size < kManyEvents) {
      spread_draining();
    } else if (!radix_sort.sort(pieces, current_ << shift_, draining_)) {
      pieces.copy(draining_);
      spread_draining();
    }
  }
  chunks_->give_back(bucket);
}

// A big bucket is first spread over about one slot per event by the upper bits of the time within it (a
// counting sort), which leaves only neighbours to be put in order.
void EventQueue::spread_draining() {
  const std::size_t size = draining_.size();
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
