#include "sim/results/flow_statistics.h"

#include <utility>

#include "sim/units/random.h"

namespace weft::results {
namespace {

void merge_times(FlowStatistics::Times& into, const FlowStatistics::Times& from) {
  into.completion.merge(from.completion);
  into.slowdown.merge(from.slowdown);
}

}  // namespace

HostTally::Host& HostTally::Host::operator+=(const Host& other) {
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  flows_sent += other.flows_sent;
  flows_received += other.flows_received;
  return *this;
}

void HostTally::add(const Flow& flow) {
  if (flow.source == flow.destination) return;
  of(flow.source) += {.bytes_sent = flow.bytes, .flows_sent = 1};
  of(flow.destination) += {.bytes_received = flow.bytes, .flows_received = 1};
}

HostTally::Host& HostTally::of(std::uint32_t host) {
  if (3 * (used_ + 1) > 2 * entries_.size()) grow();
  Entry& entry = place(host);
  used_ += entry.host == kNobody;
  entry.host = host;
  return entry.sums;
}

// Where it is, or has its place.
HostTally::Entry& HostTally::place(std::uint32_t host) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = mix64(host) & mask;
  while (entries_[at].host != host && entries_[at].host != kNobody) at = (at + 1) & mask;
  return entries_[at];
}

void HostTally::grow() {
  const std::vector<Entry> old =
      std::exchange(entries_, std::vector<Entry>(std::max<std::size_t>(64, 2 * entries_.size())));
  for (const Entry& entry : old) {
    if (entry.host != kNobody) place(entry.host) = entry;
  }
}

void FlowStatistics::add(const Flow& flow) {
  if (flow.source == flow.destination) return;
  add_but_hosts(flow);
  host(std::max(flow.source, flow.destination));
  hosts_[flow.source] += {.bytes_sent = flow.bytes, .flows_sent = 1};
  hosts_[flow.destination] += {.bytes_received = flow.bytes, .flows_received = 1};
}

void FlowStatistics::add_hosts(const HostTally& tally) {
  tally.for_each([this](std::uint32_t number, const Host& sums) { host(number) += sums; });
}

void FlowStatistics::add_but_hosts(const Flow& flow) {
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
  bytes_ += flow.bytes;
}

void FlowStatistics::merge(const FlowStatistics& other) {
  merge_times(all_, other.all_);
  sizes_.merge(other.sizes_);
  for (std::size_t i = 0; i < classes_.size(); ++i) merge_times(classes_[i], other.classes_[i]);
  if (other.hosts_.size() > hosts_.size()) hosts_.resize(other.hosts_.size());
  for (std::size_t i = 0; i < other.hosts_.size(); ++i) hosts_[i] += other.hosts_[i];
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
