#include "sim/results/series.h"

#include <algorithm>
#include <utility>

namespace weft::results {

Series::Series(Time interval, std::vector<std::uint32_t> links, SeriesSink& sink)
    : interval_(interval),
      next_(interval),
      numbers_(std::move(links)),
      bytes_(numbers_.size()),
      busy_(numbers_.size()),
      states_(numbers_.size()),
      sink_(sink) {}

void Series::advance(Time time, const SeriesSource& source) {
  while (next_ <= time) {
    take(next_, source);
    begin_ = next_;
    const bool idle = network_.packets_injected == network_.packets_delivered + network_.packets_dropped;
    // Nothing can happen before `time`: go to the interval it is in.
    if (idle) begin_ = Time::ps(time.ps() / interval_.ps() * interval_.ps());
    next_ = begin_ + interval_;
  }
}

void Series::finish(Time end, const SeriesSource& source) {
  advance(end, source);
  take(end, source);
  begin_ = end;
}

void Series::take(Time end, const SeriesSource& source) {
  const NetworkState now = source.network_state();
  const NetworkSample network = {
      .packets_in_flight = now.packets_injected - now.packets_delivered - now.packets_dropped,
      .packets_injected = now.packets_injected - network_.packets_injected,
      .packets_delivered = now.packets_delivered - network_.packets_delivered,
      .packets_dropped = now.packets_dropped - network_.packets_dropped,
      .bytes_delivered = now.bytes_delivered - network_.bytes_delivered,
      .ecn_marks = now.ecn_marks - network_.ecn_marks};
  network_ = now;
  source.link_states(end, numbers_, states_);
  samples_.clear();
  const Time span = end - begin_;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    // A queue known by its time is rounded to bytes, so the count may seem to step back by one.
    const std::uint64_t sent = std::max(states_[i].bytes, bytes_[i]) - bytes_[i];
    const Time busy = std::max(states_[i].busy, busy_[i]) - busy_[i];
    bytes_[i] += sent;
    busy_[i] += busy;
    if (sent == 0 && states_[i].queue_bytes == 0) continue;
    samples_.push_back({.link = numbers_[i],
                        .bytes = sent,
                        .utilization = span > Time() ? busy.seconds() / span.seconds() : 0,
                        .queue_bytes = states_[i].queue_bytes});
  }
  const bool nothing = samples_.empty() && network.packets_in_flight == 0 && network.packets_injected == 0 &&
                       network.packets_delivered == 0 && network.packets_dropped == 0;
  if (nothing) return;
  give_out();
  held_.any = true;
  held_.begin = begin_;
  held_.end = end;
  held_.network = network;
  held_.links.swap(samples_);
}

void Series::give_out() {
  if (held_.any) sink_.sample(held_.begin, held_.end, held_.network, held_.links);
  held_.any = false;
}

void Series::close(Time end_of_run) {
  if (held_.any && end_of_run > held_.begin && end_of_run < held_.end) {
    const double longer = (held_.end - held_.begin).seconds() / (end_of_run - held_.begin).seconds();
    // The ACKs of the last packets, sent after the end, count as well.
    for (LinkSample& link : held_.links) link.utilization = std::min(1.0, link.utilization * longer);
    held_.end = end_of_run;
  }
  give_out();
}

}  // namespace weft::results
