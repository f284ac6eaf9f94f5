#include "sim/results/timeline.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace weft::results {

std::string_view name(SliceKind kind) {
  constexpr std::array<std::string_view, kSliceKinds> kNames = {"compute",      "send",      "receive",
                                                                "wait_network", "wait_peer", "wait_other"};
  return kNames[static_cast<std::size_t>(kind)];
}

// ---- Rows ----

void TimelinePart::add(const Slice& slice) {
  ++all_slices_;
  add_to_bins(slice);
  if (!keeps(slice)) return;
  slices_.push_back(slice);
  if (slices_.size() > most_) thin(2 * most_);
}

void TimelinePart::add(const TimelineMessage& message) {
  if (!keeps(message)) return;
  messages_.push_back(message);
  if (messages_.size() > most_) thin(2 * most_);
}

// Every other rank goes; when one is left, and has more than so many rows, so does what comes late. As the
// rows of ranks only grow in number, the stride is the least that suits, whenever and by whom it is found.
void TimelinePart::thin(std::uint64_t most_at_last) {
  while (slices_.size() > most_ || messages_.size() > most_) {
    if (stride_ >= ranks_.all()) {
      if (slices_.size() > most_at_last || messages_.size() > most_at_last) cut();
      return;
    }
    stride_ *= 2;
    drop_others();
  }
}

// The moment before the first row too many, by this time of rows.
template <typename Row>
static Time last_moment(const std::vector<Row>& rows, Time Row::*time, std::uint64_t most) {
  if (rows.size() <= most) return Time::max();
  std::vector<Time> times;
  for (const Row& row : rows) times.push_back(row.*time);
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(most));
  return times[most] - Time::ps(1);
}

void TimelinePart::cut() {
  until_ = std::min({until_, last_moment(slices_, &Slice::end, most_),
                     last_moment(messages_, &TimelineMessage::sent, most_)});
  drop_others();
}

void TimelinePart::drop_others() {
  std::erase_if(slices_, [this](const Slice& slice) { return !keeps(slice); });
  std::erase_if(messages_, [this](const TimelineMessage& message) { return !keeps(message); });
}

// Leaves the other one empty.
void TimelinePart::take_in(TimelinePart& other) {
  all_slices_ += other.all_slices_;
  all_messages_ += other.all_messages_;
  stride_ = std::max(stride_, other.stride_);
  until_ = std::min(until_, other.until_);
  slices_.insert(slices_.end(), other.slices_.begin(), other.slices_.end());
  messages_.insert(messages_.end(), other.messages_.begin(), other.messages_.end());
  other.slices_ = {};
  other.messages_ = {};
  take_in_bins(other);
}

// ---- Bins ----

void TimelinePart::add_to_bins(const Slice& slice) {
  if (slice.end <= slice.start) return;
  while (slice.end > width_ * kBins) widen_bins();
  std::vector<Cell>& bins = bins_[ranks_.first_group[slice.job] + slice.rank / ranks_.group_ranks];
  if (bins.empty()) bins.resize(kBins);
  const auto kind = static_cast<std::size_t>(slice.kind);
  Time at = slice.start;
  for (auto bin = static_cast<std::size_t>(at.ps() / width_.ps()); at < slice.end; ++bin) {
    const Time end = std::min(slice.end, width_ * static_cast<std::int64_t>(bin + 1));
    bins[bin][kind] += end - at;
    at = end;
  }
}

void TimelinePart::widen_bins() {
  width_ = width_ * 2;
  for (std::vector<Cell>& bins : bins_) {
    if (bins.empty()) continue;
    for (std::size_t i = 0; i < kBins / 2; ++i) {
      Cell sum = bins[2 * i];
      for (std::size_t kind = 0; kind < kSliceKinds; ++kind) sum[kind] += bins[2 * i + 1][kind];
      bins[i] = sum;
    }
    std::fill(bins.begin() + kBins / 2, bins.end(), Cell());
  }
}

void TimelinePart::take_in_bins(TimelinePart& other) {
  while (width_ < other.width_) widen_bins();
  while (other.width_ < width_) other.widen_bins();
  for (std::size_t group = 0; group < bins_.size(); ++group) {
    const std::vector<Cell>& more = other.bins_[group];
    if (more.empty()) continue;
    bins_[group].resize(kBins);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      for (std::size_t kind = 0; kind < kSliceKinds; ++kind) bins_[group][bin][kind] += more[bin][kind];
    }
  }
  other.bins_ = {};
}

// ---- The whole ----

void TimelineRecorder::begin(const std::vector<std::uint32_t>& ranks, std::size_t parts,
                             std::vector<std::string> collectives) {
  collectives_ = std::move(collectives);
  std::uint64_t first = 0;
  for (const std::uint32_t count : ranks) {
    ranks_.first_of_job.push_back(first);
    first += count;
  }
  ranks_.first_of_job.push_back(first);
  ranks_.sent.resize(first);
  ranks_.group_ranks = std::max<std::uint64_t>((first + kGroups - 1) / kGroups, 1);
  for (const std::uint32_t count : ranks) {
    ranks_.first_group.push_back(ranks_.groups);
    ranks_.groups += (count + ranks_.group_ranks - 1) / ranks_.group_ranks;
  }
  for (std::size_t part = 0; part < parts; ++part) parts_.emplace_back(ranks_, most_);
}

void TimelineRecorder::append_bins(const TimelinePart& whole, Timeline& timeline) const {
  for (std::uint32_t job = 0; job + 1 < ranks_.first_of_job.size(); ++job) {
    const std::uint64_t ranks = ranks_.first_of_job[job + 1] - ranks_.first_of_job[job];
    for (std::uint64_t first = 0; first < ranks; first += ranks_.group_ranks) {
      const auto& bins = whole.bins_[ranks_.first_group[job] + first / ranks_.group_ranks];
      for (std::size_t i = 0; i < bins.size(); ++i) {
        if (bins[i] == TimelinePart::Cell()) continue;
        const Time start = whole.width_ * static_cast<std::int64_t>(i);
        timeline.bins.push_back(
            {.job = job,
             .first_rank = static_cast<std::uint32_t>(first),
             .last_rank = static_cast<std::uint32_t>(std::min(first + ranks_.group_ranks, ranks) - 1),
             .start = start,
             .end = start + whole.width_,
             .time = bins[i]});
      }
    }
  }
}

namespace {

// Sorts rows by whose they are, in one pass however many ranks there are, and those of one rank, which mostly
// come in that order, by `key`. Where each rank's begin, and the end.
template <typename Row, typename RankOf, typename Key>
std::vector<std::uint32_t> sort_by_rank(std::vector<Row>& rows, std::uint64_t ranks, RankOf rank_of,
                                        Key key) {
  std::vector<std::uint32_t> begins(ranks + 1);
  for (const Row& row : rows) ++begins[rank_of(row) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> next = begins;
  std::vector<Row> sorted(rows.size());
  for (const Row& row : rows) sorted[next[rank_of(row)]++] = row;
  rows = std::move(sorted);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const std::span of_rank(rows.begin() + begins[rank], rows.begin() + begins[rank + 1]);
    if (!std::ranges::is_sorted(of_rank, {}, key)) std::ranges::stable_sort(of_rank, {}, key);
  }
  return begins;
}

// Messages were known by their senders and the senders' counts so far.
void number_messages(Timeline& timeline, std::uint64_t ranks) {
  std::ranges::sort(timeline.messages, {},
                    [](const TimelineMessage& message) { return std::pair(message.sent, message.number); });
  using Numbers = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Numbers> numbers;
  numbers.reserve(timeline.messages.size());
  for (TimelineMessage& message : timeline.messages) {
    numbers.emplace_back(message.number, numbers.size());
    message.number = numbers.back().second;
  }
  const auto begins = sort_by_rank(
      numbers, ranks, [](const Numbers& pair) { return pair.first >> 32; }, &Numbers::first);
  for (Slice& slice : timeline.slices) {
    if (slice.message == kNoMessage) continue;
    const std::uint64_t sender = slice.message >> 32;
    const auto end = numbers.begin() + begins[sender + 1];
    const auto found =
        std::ranges::lower_bound(numbers.begin() + begins[sender], end, slice.message, {}, &Numbers::first);
    slice.message = found != end && found->first == slice.message ? found->second : kNoMessage;
  }
}

}  // namespace

Timeline TimelineRecorder::finish() {
  TimelinePart& whole = parts_.front();
  for (std::size_t part = 1; part < parts_.size(); ++part) whole.take_in(parts_[part]);
  whole.drop_others();
  whole.thin(most_);
  Timeline timeline;
  timeline.absent.clear();
  timeline.collectives = std::move(collectives_);
  timeline.slices = std::move(whole.slices_);
  timeline.messages = std::move(whole.messages_);
  timeline.all_slices = whole.all_slices_;
  timeline.all_messages = whole.all_messages_;
  timeline.stride = static_cast<std::uint32_t>(whole.stride_);
  timeline.until = whole.until_;
  // Slices of a cpu are added in the order of time, and those without length stay where they were.
  const auto rank_of = [this](const Slice& slice) { return ranks_.number(slice.job, slice.rank); };
  sort_by_rank(timeline.slices, ranks_.all(), rank_of, &Slice::cpu);
  number_messages(timeline, ranks_.all());
  if (timeline.all_slices > kFewSlices || !timeline.is_whole()) append_bins(whole, timeline);
  return timeline;
}

}  // namespace weft::results
