#include "sim/results/flow_statistics.h"

namespace weft::results {
namespace {

void merge_times(FlowStatistics::Times& into, const FlowStatistics::Times& from) {
  into.completion.merge(from.completion);
  into.slowdown.merge(from.slowdown);
}

}  // namespace

void FlowStatistics::add(const Flow& flow) {
  if (flow.source == flow.destination) return;
  const auto completion = static_cast<std::uint64_t>((flow.finish - flow.start).ps());
  std::size_t index = 0;
  while (flow.bytes > kClassBytes[index]) ++index;
  sizes_.add(flow.bytes);
  all_.completion.add(completion);
  classes_[index].completion.add(completion);
  if (flow.ideal > Time()) {
    const auto slowdown =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(completion) * kSlowdownUnit /
                                   static_cast<std::uint64_t>(flow.ideal.ps()));
    all_.slowdown.add(slowdown);
    classes_[index].slowdown.add(slowdown);
  }
  const std::size_t last = std::max(flow.source, flow.destination);
  if (last >= hosts_.size()) hosts_.resize(last + 1);
  ++hosts_[flow.source].flows_sent;
  hosts_[flow.source].bytes_sent += flow.bytes;
  ++hosts_[flow.destination].flows_received;
  hosts_[flow.destination].bytes_received += flow.bytes;
  bytes_ += flow.bytes;
}

void FlowStatistics::merge(const FlowStatistics& other) {
  merge_times(all_, other.all_);
  sizes_.merge(other.sizes_);
  for (std::size_t i = 0; i < classes_.size(); ++i) merge_times(classes_[i], other.classes_[i]);
  if (other.hosts_.size() > hosts_.size()) hosts_.resize(other.hosts_.size());
  for (std::size_t i = 0; i < other.hosts_.size(); ++i) {
    hosts_[i].bytes_sent += other.hosts_[i].bytes_sent;
    hosts_[i].bytes_received += other.hosts_[i].bytes_received;
    hosts_[i].flows_sent += other.hosts_[i].flows_sent;
    hosts_[i].flows_received += other.hosts_[i].flows_received;
  }
  bytes_ += other.bytes_;
}

HostGoodput host_goodput(const FlowStatistics& flows, Time makespan) {
  HostGoodput goodput;
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const FlowStatistics::Host& host : flows.hosts()) {
    if (host.flows_received == 0) continue;
    ++goodput.receivers;
    least = std::min(least, host.bytes_received);
    most = std::max(most, host.bytes_received);
  }
  if (goodput.receivers == 0) return goodput;
  goodput.mean_bps = goodput_bps(flows.bytes(), makespan) / static_cast<double>(goodput.receivers);
  goodput.least_bps = goodput_bps(least, makespan);
  goodput.most_bps = goodput_bps(most, makespan);
  return goodput;
}

}  // namespace weft::results
