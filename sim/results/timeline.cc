#include "sim/results/timeline.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::results {

std::string_view name(SliceKind kind) {
  constexpr std::array<std::string_view, kSliceKinds> kNames = {"compute",      "send",      "receive",
                                                                "wait_network", "wait_peer", "wait_other"};
  return kNames[static_cast<std::size_t>(kind)];
}

void TimelineRecorder::begin(const std::vector<std::uint32_t>& ranks) {
  std::uint64_t first = 0;
  for (const std::uint32_t count : ranks) {
    first_of_job_.push_back(first);
    first += count;
  }
  first_of_job_.push_back(first);
  group_ranks_ = std::max<std::uint64_t>((first + kGroups - 1) / kGroups, 1);
  std::uint64_t groups = 0;
  for (const std::uint32_t count : ranks) {
    first_group_.push_back(groups);
    groups += (count + group_ranks_ - 1) / group_ranks_;
  }
  bins_.resize(groups);
}

void TimelineRecorder::add(const Slice& slice) {
  ++all_slices_;
  add_to_bins(slice);
  if (!keeps(slice.job, slice.rank) || slice.end > until_) return;
  slices_.push_back(slice);
  if (slices_.size() > most_) thin(slice.end);
}

void TimelineRecorder::add(const TimelineMessage& message) {
  if (!keeps(message) || message.sent > until_) return;
  messages_.push_back(message);
  if (messages_.size() > most_) thin(message.sent);
}

// Every other rank goes; when one is left, so does all that comes later.
void TimelineRecorder::thin(Time now) {
  while (slices_.size() > most_ || messages_.size() > most_) {
    if (stride_ >= first_of_job_.back()) {
      until_ = now;
      return;
    }
    stride_ *= 2;
    std::erase_if(slices_, [this](const Slice& slice) { return !keeps(slice.job, slice.rank); });
    std::erase_if(messages_, [this](const TimelineMessage& message) { return !keeps(message); });
  }
}

std::uint8_t TimelineRecorder::collective(std::string_view collective) {
  const auto found = std::find(collectives_.begin(), collectives_.end(), collective);
  if (found != collectives_.end()) return static_cast<std::uint8_t>(found - collectives_.begin());
  collectives_.emplace_back(collective);
  return static_cast<std::uint8_t>(collectives_.size() - 1);
}

// ---- Bins ----

void TimelineRecorder::add_to_bins(const Slice& slice) {
  if (slice.end <= slice.start) return;
  while (slice.end > width_ * kBins) widen_bins();
  std::vector<Cell>& bins = bins_[first_group_[slice.job] + slice.rank / group_ranks_];
  if (bins.empty()) bins.resize(kBins);
  const auto kind = static_cast<std::size_t>(slice.kind);
  Time at = slice.start;
  for (auto bin = static_cast<std::size_t>(at.ps() / width_.ps()); at < slice.end; ++bin) {
    const Time end = std::min(slice.end, width_ * static_cast<std::int64_t>(bin + 1));
    bins[bin][kind] += end - at;
    at = end;
  }
}

void TimelineRecorder::widen_bins() {
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

void TimelineRecorder::append_bins(Timeline& timeline) const {
  for (std::uint32_t job = 0; job + 1 < first_of_job_.size(); ++job) {
    const std::uint64_t ranks = first_of_job_[job + 1] - first_of_job_[job];
    for (std::uint64_t first = 0; first < ranks; first += group_ranks_) {
      const std::vector<Cell>& bins = bins_[first_group_[job] + first / group_ranks_];
      for (std::size_t i = 0; i < bins.size(); ++i) {
        if (bins[i] == Cell()) continue;
        const Time start = width_ * static_cast<std::int64_t>(i);
        timeline.bins.push_back(
            {.job = job,
             .first_rank = static_cast<std::uint32_t>(first),
             .last_rank = static_cast<std::uint32_t>(std::min(first + group_ranks_, ranks) - 1),
             .start = start,
             .end = start + width_,
             .time = bins[i]});
      }
    }
  }
}

Timeline TimelineRecorder::finish() {
  Timeline timeline;
  timeline.absent.clear();
  timeline.collectives = std::move(collectives_);
  timeline.slices = std::move(slices_);
  timeline.messages = std::move(messages_);
  timeline.all_slices = all_slices_;
  timeline.all_messages = all_messages_;
  timeline.stride = static_cast<std::uint32_t>(stride_);
  timeline.until = until_;
  // Slices of a cpu are added in the order of time, and those without length stay where they were.
  const auto place = [](const Slice& slice) { return std::tuple(slice.job, slice.rank, slice.cpu); };
  std::stable_sort(timeline.slices.begin(), timeline.slices.end(),
                   [&](const Slice& a, const Slice& b) { return place(a) < place(b); });
  std::sort(timeline.messages.begin(), timeline.messages.end(),
            [](const TimelineMessage& a, const TimelineMessage& b) { return a.number < b.number; });
  if (all_slices_ > kFewSlices || !timeline.is_whole()) append_bins(timeline);
  return timeline;
}

}  // namespace weft::results
