#include "sim/packet/queues/lanes.h"

namespace weft::sim::packet {

LaneQueues::LaneQueues(std::uint32_t ports, std::uint32_t lanes)
    : ports_(ports), lanes_(lanes), queues_(std::size_t{ports} * lanes), sending_(ports) {
  follows_departures_ = true;
}

NodeQueues::Next LaneQueues::take(std::uint32_t out, std::uint32_t lane) {
  const Entry entry = queue(out, lane).packets.pop();
  sending_[out].from = origin_of(entry);
  sending_[out].bytes = entry.bytes;
  sending_[out].lane = lane;
  return {entry.packet, entry.bytes, !nothing_waits(out)};
}

bool LaneQueues::nothing_waits(std::uint32_t out) const {
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    if (!queue(out, lane).packets.empty()) return false;
  }
  return true;
}

std::uint64_t LaneQueues::backlog_bytes(std::uint32_t out) const {
  std::uint64_t bytes = 0;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) bytes += queue(out, lane).packets.bytes();
  return bytes;
}

void LaneQueues::held_back(Time now, std::vector<Lane>& out) const {
  for (std::uint32_t port = 0; port < ports_; ++port) {
    if (sending_[port].bytes > 0 && sending_[port].departure > now) continue;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const Queue& each = queue(port, lane);
      if (each.held && !each.packets.empty()) out.push_back({port, lane});
    }
  }
}

void LaneQueues::filled_by(Lane in, Time now, std::vector<Lane>& out) const {
  const auto is_from = [&](const Origin& from) { return from.port == in.port && from.lane == in.lane; };
  for (std::uint32_t port = 0; port < ports_; ++port) {
    const Sending& sent = sending_[port];
    const bool under_way = sent.bytes > 0 && sent.departure > now && is_from(sent.from);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      bool found = under_way && sent.lane == lane;
      queue(port, lane).packets.for_each([&](const Entry& entry) {
        found = found || is_from(origin_of(entry));
      });
      if (found) out.push_back({port, lane});
    }
  }
}

}  // namespace weft::sim::packet
