// Queues that are first in, first out, with a rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/packet/wires.h"

namespace weft::sim::packet {

// The server never idles with work, so a packet's departure is known on arrival, and a hop costs one event:
// at the far end of the link, pipeline latency of the switch there included. Occupancy follows from the time
// the queue will be empty.
class FifoServer {
 public:
  explicit FifoServer(Wires& wires) : wires_(wires), hot_(wires.hot), first_entity_(wires.first_entity) {}

  // A packet joins the queue of a channel without any ChannelFlag. `kSimple`: Fabric::is_simple().
  template <bool kSimple>
  [[gnu::always_inline]] void enqueue(ChannelId c, PacketHandle handle) {
    Channel& channel = hot_[c];
    Packet& packet = wires_.pool[handle];
    const std::int64_t now = wires_.engine.now().ps();
    const std::int64_t start = channel.free_at_ps > now ? channel.free_at_ps : now;
    const std::uint32_t bytes = packet.bytes;
    const std::int64_t departure = start + wires_.channels.serialization_ps(c, channel, bytes);
    if (departure - now > channel.capacity_ps) [[unlikely]] {
      wires_.drop(c, handle, wires_.engine.now());
      return;
    }
    if (start - now > channel.mark_above_ps) [[unlikely]]
      mark(c, packet, start - now, departure - start);
    channel.free_at_ps = departure;
    channel.bytes += bytes;
    const auto sequence = static_cast<std::uint32_t>(channel.packets++);  // one event per packet
    if (departure - now > channel.max_backlog_ps) channel.max_backlog_ps = departure - now;
    if constexpr (!kSimple) {
      if (wires_.observer != nullptr) [[unlikely]]
        wires_.observer->on_enqueue(wires_.engine.now(), c, wires_.sighting(handle), Time::ps(departure));
    }
    wires_.put_on_wire(channel, departure + channel.delay_ps, sequence, first_entity_ + c, handle);
  }
  // Puts a packet in the queue of a channel with flags; `in`: the channel it came through, or kNoChannel.
  void enqueue_special(ChannelId c, PacketHandle handle, ChannelId in);
  // The event of a packet that waited at a channel with kStamps: it goes on the wire now.
  void start(ChannelId c, std::uint32_t record);

 private:
  // A packet whose departure is known, but not yet what it will leave behind.
  struct Starting {
    Event hop;                     // of its arrival at the far end
    std::uint64_t sent_bytes = 0;  // of the channel, with it
  };

  void stamp(ChannelId c, std::int64_t start_ps, const Event& hop);
  bool admits(ChannelId c, Packet& packet, std::int64_t departure_ps);
  bool phantom_marks(ColdChannel& cold, std::int64_t serialization_ps);
  void mark(ChannelId c, Packet& packet, std::int64_t backlog_ps, std::int64_t serialization_ps);

  Wires& wires_;
  Channel* const hot_;
  const EntityId first_entity_;
  std::vector<Starting> starting_;
  std::vector<std::uint32_t> unused_starting_;
};

}  // namespace weft::sim::packet
