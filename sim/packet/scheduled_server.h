// Queues that decide packet by packet what leaves next (NodeQueues).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/packet/wires.h"

namespace weft::sim::packet {

// Finds the queues of a node for its own, such as when headers are sent back.
class Forwarding {
 public:
  virtual ~Forwarding() = default;
  // A packet made or turned round at a switch goes on from there.
  virtual void send_from(NodeId at, PacketHandle handle, ChannelId seen_at) = 0;
};

// The moments at which ports decide follow from what has arrived, so they are worked out when something else
// happens at the port: a packet arrives, a frame, somebody looks. What happens at a moment precedes a
// decision at that moment. Only a port with packets that wait has an event of its own, and that once in the
// time that its cable takes (ColdChannel::slack_ps): at the far end, and where room is given back, all is
// known in time. So a hop costs one event where ports are free, and little more where packets wait. At nodes
// that are exact, hosts among them, ports with packets that wait have an event for every departure.
//
// Where nothing that comes later can take a packet's turn (NodeQueues::commits) and it will be free to go
// when the link is, a departure is known on arrival, as in FIFO queues: with credits, if they will be there;
// where frames pause (heeds_frames), if none is on its way and it starts before one that isn't could come.
//
// How often it is worked out changes nothing; so the events that see to it count for nothing either
// (Engine::discount).
class ScheduledServer {
 public:
  ScheduledServer(Wires& wires, Forwarding& forwarding);

  // A packet joins a scheduled channel; `in`: the channel it came through, or kNoChannel.
  void arrive(ChannelId c, PacketHandle handle, ChannelId in);
  // May a flow hand over a data packet to this NIC now?
  bool takes_data(ChannelId c) const {
    const Channel& channel = wires_.hot[c];
    return !(channel.flags & kWaiting) && channel.free_at_ps <= wires_.engine.now().ps() &&
           queues_of(c).takes_data(wires_.channels.places[c].port, wires_.engine.now());
  }
  // Flows have data for this NIC, which takes none now, or has just taken some.
  void await_room(ChannelId c);
  // Events. Both return a channel whose NIC is awaited and may take a data packet now, or kNoChannel.
  ChannelId serve(ChannelId c);
  ChannelId frame_arrived(ChannelId c, std::uint32_t content);
  // An event that NodeActions::look_at() has asked for.
  void look(ChannelId c);
  // Room that another partition has given back.
  void take_in(const RoomReturn& back) {
    wires_.channels.mailed_room[back.channel]->add({back.departure, back.content});
    if (queues_of(back.channel).exact()) look_after(back.channel, queues_of(back.channel));
  }
  // A packet that was on channel `c` when that was cut should be at its end now.
  void lost_on_wire(ChannelId c, PacketHandle handle);

  // Works out what one port has done until now, or all of this partition's did before `now`.
  void settle(ChannelId c) { settle_before(c, wires_.engine.now().ps() + 1); }
  void settle_until(ChannelId c, Time now) { settle_before(c, now.ps() + 1); }
  void settle_all(Time now);
  // Works out what the ports that are watched did before `now`, those of nodes with cables to other
  // partitions, so that these hear of it in time. Returns the next moment at which one of them may decide.
  Time settle_watched(Time now);
  // Watches all ports; and works out what they did before now, in the order of time: for observers.
  void watch_all();
  void settle_in_order();

 private:
  class Node;
  // Events that are not packets' have these, so that they depend on nothing but their time and port.
  static constexpr std::uint32_t kServeSequence = UINT32_MAX, kLookSequence = UINT32_MAX - 1,
                                 kFrameSequence = 0x80000000, kRoomSequence = 0xC0000000;

  NodeQueues& queues_of(ChannelId c) const { return wires_.channels.places[c].queues(); }
  // May a packet be given its departure before its turn? Not if somebody looks at what happens at ports, or
  // where times don't tell bytes to the last one: it must make no difference. And not where a frame that
  // matters is on its way, or nobody here knows that.
  bool can_foresee(const Channel& channel, const NodeQueues& queues) const {
    constexpr std::uint16_t kHarmless = kScheduled | kWaiting | kGuarded | kWatched | kListed | kAwaited;
    return (channel.flags & ~kHarmless) == 0 && channel.ps_per_byte != 0 && wires_.channels.undisturbed &&
           wires_.observer == nullptr &&
           (!queues.heeds_frames() || channel.end_partition == wires_.partition);
  }
  void settle_before(ChannelId c, std::int64_t limit_ps);
  // Works out what the port has done, and what it is sure to do.
  void settle_ahead(ChannelId c, const NodeQueues& queues);
  // When the port decides next, if that is known; INT64_MAX: not, or nothing waits.
  std::int64_t next_start_ps(ChannelId c) const;
  bool start_next(ChannelId c, NodeQueues& queues, std::int64_t start_ps);
  void transmit(ChannelId c, NodeQueues& queues, PacketHandle handle, std::uint32_t bytes,
                std::int64_t start_ps);
  void look_after(ChannelId c, const NodeQueues& queues);
  void serve_at(ChannelId c, std::int64_t when_ps);  // unless it will be served then anyway
  void schedule_serve(ChannelId c, std::int64_t when_ps);
  void note_backlog(ChannelId c, const NodeQueues& queues);
  ChannelId ready_nic(ChannelId c) {
    Channel& channel = wires_.hot[c];
    if (!(channel.flags & kAwaited) || !takes_data(c)) return kNoChannel;
    channel.flags &= static_cast<std::uint16_t>(~kAwaited);
    return c;
  }
  void send_frame(ChannelId c, std::uint32_t content, std::uint32_t sequence, Time when);
  void wake(ChannelId c);

  Wires& wires_;
  Forwarding& forwarding_;
  std::vector<ChannelId> watched_;  // of the watched ports, those where packets wait (kListed)
};

}  // namespace weft::sim::packet
