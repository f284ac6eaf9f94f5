#include "goal/import/kineto/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

void append(Lane& lane, std::uint32_t gpu, std::int64_t launched, std::int64_t ended) {
  lane.launched.push_back(lane.gpu.empty() ? launched : std::max(launched, lane.launched.back()));
  lane.ended.push_back(lane.gpu.empty() ? ended : std::max(ended, lane.ended.back()));
  lane.gpu.push_back(gpu);
}

bool may_launch(HostKind kind) { return kind == HostKind::kApi || kind >= HostKind::kMemcpy; }

}  // namespace

std::uint32_t Lane::last(std::int64_t launched_before, std::int64_t ended_by) const {
  const auto a = std::lower_bound(launched.begin(), launched.end(), launched_before) - launched.begin();
  const auto b = std::upper_bound(ended.begin(), ended.end(), ended_by) - ended.begin();
  const auto count = std::min(a, b);
  return count == 0 ? kNone : gpu[static_cast<std::size_t>(count - 1)];
}

std::uint32_t Lane::next(std::int64_t launched_from) const {
  const auto at = std::lower_bound(launched.begin(), launched.end(), launched_from) - launched.begin();
  return static_cast<std::size_t>(at) == gpu.size() ? kNone : gpu[static_cast<std::size_t>(at)];
}

Timeline::Timeline(RankTrace& trace) : trace_(trace) {
  sort();
  find_launches();
  fill_lanes();
}

void Timeline::sort() {
  std::stable_sort(trace_.host.begin(), trace_.host.end(), [](const HostEvent& a, const HostEvent& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::stable_sort(trace_.gpu.begin(), trace_.gpu.end(),
                   [](const GpuEvent& a, const GpuEvent& b) { return a.start < b.start; });
  thread_begin_.assign(trace_.threads + 1, static_cast<std::uint32_t>(trace_.host.size()));
  for (std::size_t i = trace_.host.size(); i-- > 0;) {
    thread_begin_[trace_.host[i].thread] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t t = trace_.threads; t-- > 0;) {
    thread_begin_[t] = std::min(thread_begin_[t], thread_begin_[t + 1]);
  }
  begin_ = std::numeric_limits<std::int64_t>::max();
  end_ = std::numeric_limits<std::int64_t>::min();
  for (const HostEvent& event : trace_.host) {
    begin_ = std::min(begin_, event.start);
    end_ = std::max(end_, event.end);
  }
  for (const GpuEvent& event : trace_.gpu) {
    begin_ = std::min(begin_, event.start);
    end_ = std::max(end_, event.end);
  }
}

void Timeline::find_launches() {
  for (std::uint32_t i = 0; i < trace_.host.size(); ++i) {
    const HostEvent& host = trace_.host[i];
    if (may_launch(host.kind) && host.correlation != kNoCorrelation) {
      host_by_correlation_.emplace(host.correlation, i);
    }
  }
  launch_.reserve(trace_.gpu.size());
  for (const GpuEvent& gpu : trace_.gpu) launch_.push_back(host_of(gpu.correlation));
}

void Timeline::fill_lanes() {
  streams_.resize(trace_.stream_numbers.size());
  communicating_.resize(trace_.stream_numbers.size());
  compute_of_thread_.resize(trace_.threads);
  std::vector<std::uint32_t> by_launch(trace_.gpu.size());
  for (std::uint32_t i = 0; i < trace_.gpu.size(); ++i) {
    const GpuEvent& gpu = trace_.gpu[i];
    append(streams_[gpu.stream], i, launched(i), gpu.end);
    if (gpu.communicates) communicating_[gpu.stream] = true;
    by_launch[i] = i;
  }
  std::stable_sort(by_launch.begin(), by_launch.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return launched(a) < launched(b); });
  for (const std::uint32_t i : by_launch) {
    const GpuEvent& gpu = trace_.gpu[i];
    if (gpu.communicates) continue;
    append(compute_, i, launched(i), gpu.end);
    if (launch_[i] != kNone) {
      append(compute_of_thread_[trace_.host[launch_[i]].thread], i, launched(i), gpu.end);
    }
  }
}

std::int64_t Timeline::launched(std::uint32_t gpu) const {
  const std::int64_t start = trace_.gpu[gpu].start;
  return launch_[gpu] == kNone ? start : trace_.host[launch_[gpu]].start;
}

std::uint32_t Timeline::host_of(std::uint64_t correlation) const {
  const auto found = host_by_correlation_.find(correlation);
  return correlation == kNoCorrelation || found == host_by_correlation_.end() ? kNone : found->second;
}

void keep_steps(RankTrace& trace, std::int64_t first, std::int64_t last) {
  std::int64_t from = std::numeric_limits<std::int64_t>::max(), to = std::numeric_limits<std::int64_t>::min();
  std::string known;
  std::int64_t count = 0;
  for (const StepRange& step : trace.steps) {
    if (known.size() < 200) known += (known.empty() ? "" : ", ") + std::to_string(step.number);
    if (step.number < first || step.number > last) continue;
    ++count;
    from = std::min(from, step.start);
    to = std::max(to, step.end);
  }
  if (count <= last - first) {
    throw InputError({trace.path}, fmt::format("has {} of steps {} to {}; its ProfilerStep ranges are: {}",
                                               count, first, last, known.empty() ? "none" : known));
  }
  std::unordered_set<std::uint64_t> started;
  std::erase_if(trace.host, [&](const HostEvent& event) {
    const bool out = event.start < from || event.start >= to;
    if (!out && event.correlation != kNoCorrelation) started.insert(event.correlation);
    return out;
  });
  std::erase_if(trace.gpu, [&](const GpuEvent& event) {
    return event.correlation == kNoCorrelation ? event.start < from || event.start >= to
                                               : !started.contains(event.correlation);
  });
  if (trace.host.empty()) throw InputError({trace.path}, "has no events in the steps asked for");
}

}  // namespace weft::goal
