#include "sim/packet/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weft::sim::packet {

std::vector<DeadlockWatch::Stuck> DeadlockWatch::waits_for(const Stuck& lane) const {
  const NodeId at = channels_.ends[lane.channel].node();
  std::vector<NodeQueues::Lane> filled;
  if (channels_.queues[at] != nullptr) {
    channels_.queues[at]->filled_by({channels_.places[opposite(lane.channel)].port, lane.lane}, now_, later_,
                                    filled);
  }
  std::vector<Stuck> lanes;
  for (const NodeQueues::Lane& each : filled) {
    const ChannelId channel{channels_.topology.out_channels(at)[each.port]};
    lanes.push_back({channel, each.lane, channels_.hot[channel].packets});
  }
  return lanes;
}

bool DeadlockWatch::look(Time now, Time next) {
  now_ = now;
  later_ = next;
  std::vector<Stuck> stuck;
  std::vector<NodeQueues::Lane> held;
  for (std::uint32_t v = 0; v < channels_.queues.size(); ++v) {
    if (channels_.queues[v] == nullptr) continue;
    held.clear();
    channels_.queues[v]->held_back(now, held);
    for (const NodeQueues::Lane& lane : held) {
      const ChannelId channel{channels_.topology.out_channels(v)[lane.port]};
      stuck.push_back({channel, lane.lane, channels_.hot[channel].packets});
    }
  }
  std::sort(stuck.begin(), stuck.end());
  stuck = without_way_out(std::move(stuck));
  std::vector<Stuck> unmoved;
  std::set_intersection(stuck.begin(), stuck.end(), stuck_.begin(), stuck_.end(),
                        std::back_inserter(unmoved));
  unmoved = without_way_out(std::move(unmoved));
  const bool found = !unmoved.empty();
  stuck_ = found ? std::move(unmoved) : std::move(stuck);
  return found;
}

std::vector<DeadlockWatch::Stuck> DeadlockWatch::without_way_out(std::vector<Stuck> stuck) const {
  for (std::size_t before = stuck.size() + 1; stuck.size() < before;) {
    before = stuck.size();
    std::vector<Stuck> left;
    for (const Stuck& lane : stuck) {
      const std::vector<Stuck> next = waits_for(lane);
      const bool no_way_out = std::all_of(next.begin(), next.end(), [&](const Stuck& each) {
        return std::binary_search(stuck.begin(), stuck.end(), each);
      });
      if (!next.empty() && no_way_out) left.push_back(lane);
    }
    stuck = std::move(left);
  }
  return stuck;
}

std::vector<std::string> DeadlockWatch::describe() const {
  const auto name = [&](const Stuck& lane) {
    const topologies::Channel& wire = channels_.topology.channels()[lane.channel];
    return fmt::format("{} -> {} (lane {})", channels_.topology.node(wire.from).name,
                       channels_.topology.node(wire.to).name, lane.lane);
  };
  // Follow the first wait from lane to lane until one comes again.
  std::vector<Stuck> way{stuck_.front()};
  std::size_t again = 0;
  for (;;) {
    const Stuck next = waits_for(way.back()).front();
    again = static_cast<std::size_t>(std::find(way.begin(), way.end(), next) - way.begin());
    if (again < way.size()) break;
    way.push_back(next);
  }
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("deadlock: {} {} of channels wait for room that only they themselves can give; "
                  "one circle:",
                  stuck_.size(), stuck_.size() == 1 ? "lane" : "lanes"));
  for (std::size_t i = again; i < way.size(); ++i) {
    lines.push_back(
        fmt::format("  {} waits for {}", name(way[i]), name(i + 1 < way.size() ? way[i + 1] : way[again])));
  }
  return lines;
}

}  // namespace weft::sim::packet
