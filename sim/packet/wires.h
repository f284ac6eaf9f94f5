// What the servers of queues in one partition share: packets go on the wire, and some are lost.
#pragma once

#include <cstdint>

#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet.h"

namespace weft::sim::packet {

// The network's own kinds of events; the payload stands behind each.
enum EventKind : std::uint16_t {
  kHop = 1,    // a packet's last bit is at the end of the channel that is the event's source: packet handle
  kNicReady,   // a NIC may take the next packet from its flows: NIC number
  kNicTimer,   // flows of a NIC may have losses: NIC number
  kPace,       // a paced flow may send again: flow slot; detail: its generation
  kLocalCopy,  // a message within a host is there: slot of the local message
  kReceive,    // a packet has passed the NIC it came to: packet handle; detail: which of the host's NICs
  kAckTimer,   // a NIC has held an ACK back for long enough: NIC number
  kServe,      // a scheduled channel is to be looked after (ScheduledServer): channel
  kFrame,      // a frame of a node's queues is at the end of the channel that is the event's source: content
  kSenderTimer,    // a connection's control wants to be called: slot; detail: its generation
  kTaken,          // a send buffer has taken a message: slot; detail: its generation
  kReceiverTimer,  // a NIC's receiver wants to be called: NIC number
  kPolicyTimer,    // of a switch's policy, which the source stands for: the policy's own number
  kDeparted,       // a packet has left a port whose switch's policy wants to know: record of PolicyNews
  kStart,  // a packet that waited in a FIFO queue goes on the wire and is stamped: record of FifoServer
  kLook,   // a node's queues want to be called for a port: channel
};
static_assert(kLook < kClientKinds);

struct FabricCounters {
  std::uint64_t packets_injected = 0, bytes_injected = 0;
  std::uint64_t packets_delivered = 0, bytes_delivered = 0;
  std::uint64_t packets_dropped = 0, bytes_dropped = 0;
  std::uint64_t packets_trimmed = 0, bytes_trimmed = 0;  // bytes cut off
  std::uint64_t headers_returned = 0;
  // Some of the dropped ones were lost to wrong bits, to links that were down, or for want of a way to the
  // destination.
  std::uint64_t corrupted = 0, lost_to_down_links = 0, without_route = 0;
  std::uint64_t detours = 0;  // taken at a switch round a link that was down
  std::uint64_t marks = 0;
  std::uint64_t data_delivered = 0;  // packets with user bytes that came to a host, again or not

  FabricCounters& operator+=(const FabricCounters& other);
};

// Hears of what happens at ports with kReports.
class PortListener {
 public:
  virtual ~PortListener() = default;
  // A packet goes on the wire and has left at `departure_ps`.
  virtual void departs(ChannelId c, PacketHandle handle, std::int64_t departure_ps) = 0;
  virtual void dropped(ChannelId c, PacketHandle handle) = 0;
  virtual void trimmed(ChannelId c, PacketHandle handle) = 0;
};

struct Wires {
  Wires(Engine& engine_, Channels& channels_, std::uint32_t partition_, Outbox& outbox_)
      : engine(engine_),
        channels(channels_),
        hot(channels_.hot.data()),
        first_entity(channels_.first_entity),
        partition(partition_),
        outbox(outbox_) {}

  // Schedules a packet's event at the far end. It takes words, which stay in registers (EventQueue::push).
  [[gnu::always_inline]] void put_on_wire(const Channel& channel, std::int64_t time_ps,
                                          std::uint32_t sequence, EntityId source, PacketHandle packet) {
    if (channel.end_partition == partition) [[likely]] {
      engine.insert(time_ps, sequence, source, packet, kHop);
    } else {
      mail(channel.end_partition, time_ps, sequence, source, packet);
    }
  }
  void put_on_wire(const Channel& channel, const Event& hop) {
    put_on_wire(channel, hop.time_ps, hop.sequence, hop.source, PacketHandle(hop.payload));
  }
  // Schedules a packet's event at the end of a channel in another partition.
  void mail(std::uint32_t to, std::int64_t time_ps, std::uint32_t sequence, EntityId source,
            PacketHandle packet);
  // Draws whether a packet that goes on the wire now will not arrive, and counts it.
  bool fails_on_wire(ChannelId c, std::uint32_t bytes);
  // Ends a packet at a channel of this partition's.
  void drop(ChannelId c, PacketHandle handle, Time now);
  // Ends a packet at a channel that may be another partition's: its records stay as they are.
  void lose(ChannelId c, PacketHandle handle, Time now);
  void set_mark(ChannelId c, Packet& packet);
  // Is telemetry to be written into the packet? REQUIRES: the channel has kStamps.
  bool is_stamped(PacketHandle handle) const {
    const Packet& packet = pool[handle];
    return packet.data() && !packet.returned();
  }
  // A packet goes on the wire at `start_ps`, and leaves `queue_bytes` behind; `sent_bytes`: of the channel,
  // with this packet.
  void stamp(ChannelId c, PacketHandle handle, std::int64_t start_ps, std::uint64_t queue_bytes,
             std::uint64_t sent_bytes);
  Sighting sighting(PacketHandle handle) const;

  Engine& engine;
  Channels& channels;
  Channel* const hot;  // of channels, where every hop finds them
  const EntityId first_entity;
  const std::uint32_t partition;
  Outbox& outbox;
  Observer* observer = nullptr;
  PortListener* listener = nullptr;  // null: no port has kReports
  PacketPool pool;
  FabricCounters counters;
};

}  // namespace weft::sim::packet
