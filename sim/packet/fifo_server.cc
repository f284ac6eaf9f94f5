#include "sim/packet/fifo_server.h"

namespace weft::sim::packet {

void FifoServer::enqueue_special(ChannelId c, PacketHandle handle, ChannelId in) {
  const Channels& channels = wires_.channels;
  Channel& channel = hot_[c];
  Packet& packet = wires_.pool[handle];
  const Time moment = wires_.engine.now();
  const std::int64_t now = moment.ps();
  const std::uint32_t bytes = packet.bytes;
  const std::uint32_t header = std::min(bytes, channels.control_bytes);
  const std::int64_t serialization = channels.serialization_ps(c, channel, bytes);
  std::int64_t start = std::max(channel.free_at_ps, now);
  if (in != kNoChannel && (hot_[in].flags & kCutThrough)) {
    // No faster than it comes in.
    const Channel& from = hot_[in];
    const std::int64_t all_here =
        now + channels.serialization_ps(in, from, bytes) - channels.serialization_ps(in, from, header);
    start = std::max(start, all_here - serialization);
  }
  const std::int64_t departure = start + serialization;
  if (departure - now > channel.capacity_ps || ((channel.flags & kAdmits) && !admits(c, packet, departure))) {
    wires_.drop(c, handle, moment);
    return;
  }
  if (start - now > channel.mark_above_ps) mark(c, packet, start - now, serialization);
  channel.free_at_ps = departure;
  channel.bytes += bytes;
  const auto sequence = static_cast<std::uint32_t>(channel.packets++);
  channel.max_backlog_ps = std::max(channel.max_backlog_ps, departure - now);
  if (wires_.observer != nullptr) {
    wires_.observer->on_enqueue(moment, c, wires_.sighting(handle), Time::ps(departure));
  }
  if (channel.flags & kReports) wires_.listener->departs(c, handle, departure);
  if (channel.flags & kDivided) wires_.channels.count_by_job(c, packet.source, bytes);
  if ((channel.flags & (kErrors | kDown)) && wires_.fails_on_wire(c, bytes)) {
    wires_.drop(c, handle, moment);
    return;
  }
  const bool early = (channel.flags & kCutThrough) && !channels.ends[c].is_host();
  const std::int64_t seen = early ? start + channels.serialization_ps(c, channel, header) : departure;
  const Event hop{seen + channel.delay_ps, sequence, first_entity_ + c, handle, kHop, 0};
  if ((channel.flags & kStamps) && wires_.is_stamped(handle)) return stamp(c, start, hop);
  wires_.put_on_wire(channel, hop);
}

// What a packet leaves behind is what arrives while it waits. That is known when it starts; only then is it
// handed to the far end, which may be another partition's.
void FifoServer::stamp(ChannelId c, std::int64_t start_ps, const Event& hop) {
  const Channel& channel = hot_[c];
  if (start_ps <= wires_.engine.now().ps()) {
    wires_.stamp(c, PacketHandle(hop.payload), start_ps, 0, channel.bytes);
    wires_.put_on_wire(channel, hop);
    return;
  }
  auto record = static_cast<std::uint32_t>(starting_.size());
  if (unused_starting_.empty()) {
    starting_.emplace_back();
  } else {
    record = unused_starting_.back();
    unused_starting_.pop_back();
  }
  starting_[record] = {hop, channel.bytes};
  wires_.engine.insert({start_ps, hop.sequence, wires_.channels.first_start + c, record, kStart, 0});
}

void FifoServer::start(ChannelId c, std::uint32_t record) {
  const Starting starting = starting_[record];
  unused_starting_.push_back(record);
  const Channel& channel = hot_[c];
  wires_.stamp(c, PacketHandle(starting.hop.payload), wires_.engine.now().ps(),
               channel.bytes - starting.sent_bytes, starting.sent_bytes);
  wires_.put_on_wire(channel, starting.hop);
}

// Where the switch decides, by what its ports hold together.
bool FifoServer::admits(ChannelId c, Packet& packet, std::int64_t departure_ps) {
  const PortPlace& place = wires_.channels.places[c];
  const Admission::Verdict verdict = wires_.channels.admissions[place.vertex]->admit(
      place.port, packet.bytes, wires_.engine.now(), Time::ps(departure_ps));
  if (verdict == Admission::Verdict::kMark && !packet.control()) wires_.set_mark(c, packet);
  return verdict != Admission::Verdict::kDrop;
}

void FifoServer::mark(ChannelId c, Packet& packet, std::int64_t backlog_ps, std::int64_t serialization_ps) {
  ColdChannel& cold = wires_.channels.cold[c];
  const bool by_phantom = cold.phantom_stretch > 0 && phantom_marks(cold, serialization_ps);
  if (packet.control()) return;
  if (!by_phantom && backlog_ps <= cold.mark_all_above_ps) {
    if (backlog_ps <= cold.mark_from_ps) return;
    const double probability = cold.mark_slope * static_cast<double>(backlog_ps - cold.mark_from_ps);
    if (cold.random.uniform() >= probability) return;
  }
  wires_.set_mark(c, packet);
}

// Counts the packet in the virtual queue; what that held before decides.
bool FifoServer::phantom_marks(ColdChannel& cold, std::int64_t serialization_ps) {
  const std::int64_t now = wires_.engine.now().ps();
  const std::int64_t held = std::max<std::int64_t>(0, cold.phantom_free_ps - now);
  const auto longer = static_cast<std::int64_t>(static_cast<double>(serialization_ps) * cold.phantom_stretch);
  cold.phantom_free_ps = now + std::min(held + longer, cold.phantom_capacity_ps);
  if (held <= cold.phantom_mark_from_ps) return false;
  if (held > cold.phantom_mark_all_ps) return true;
  const auto ramp = static_cast<double>(cold.phantom_mark_all_ps - cold.phantom_mark_from_ps);
  return cold.random.uniform() * ramp < static_cast<double>(held - cold.phantom_mark_from_ps);
}

}  // namespace weft::sim::packet
