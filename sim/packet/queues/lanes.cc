#include "sim/packet/queues/lanes.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint16_t kMadeHere = UINT16_MAX;  // kHere, in Waiting::in_port

}  // namespace

LaneQueues::LaneQueues(std::uint32_t ports, std::uint32_t lanes)
    : ports_(ports),
      lanes_(lanes),
      queues_(std::size_t{ports} * lanes),
      sending_(ports),
      passing_(std::size_t{ports} * ports * lanes) {}

void LaneQueues::put(Origin from, std::uint32_t out, std::uint32_t lane, std::uint32_t packet,
                     NodeActions& node) {
  PacketPool& pool = node.packets();
  queue(out, lane).packets.push(pool, packet, node.bytes(packet));
  Waiting& waiting = pool.waiting(packet);
  waiting.in_port = from.port == kHere ? kMadeHere : static_cast<std::uint16_t>(from.port);
  waiting.lane = static_cast<std::uint16_t>(from.lane);
  if (from.port != kHere) ++passing(from, out);
}

std::uint32_t LaneQueues::take(std::uint32_t out, std::uint32_t lane, NodeActions& node) {
  PacketFifo& packets = queue(out, lane).packets;
  PacketPool& pool = node.packets();
  const std::uint32_t bytes = node.bytes(packets.front());
  const std::uint32_t packet = packets.pop(pool, bytes);
  const Waiting& waiting = pool.waiting(packet);
  sending_[out] = {{waiting.in_port == kMadeHere ? kHere : waiting.in_port, waiting.lane}, bytes};
  return packet;
}

void LaneQueues::departed(std::uint32_t out, NodeActions& node) {
  const Sending sent = sending_[out];
  sending_[out].bytes = 0;
  if (sent.from.port == kHere) return;
  --passing(sent.from, out);
  left(sent.from, sent.bytes, node);
}

std::uint64_t LaneQueues::backlog_bytes(std::uint32_t out) const {
  std::uint64_t bytes = 0;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) bytes += queue(out, lane).packets.bytes();
  return bytes;
}

void LaneQueues::held_back(std::vector<Lane>& out) const {
  for (std::uint32_t port = 0; port < ports_; ++port) {
    if (sending_[port].bytes > 0) continue;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      const Queue& each = queue(port, lane);
      if (each.held && !each.packets.empty()) out.push_back({port, lane});
    }
  }
}

void LaneQueues::filled_by(Lane in, std::vector<Lane>& out) const {
  for (std::uint32_t port = 0; port < ports_; ++port) {
    if (passing_[(port * ports_ + in.port) * lanes_ + in.lane] == 0) continue;
    out.push_back({port, lane_out({in.port, in.lane}, port)});
  }
}

}  // namespace weft::sim::packet
