// The seam in the switch: which port a packet leaves through.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/core/random.h"
#include "sim/routing/hash_choice.h"
#include "sim/units/quantity.h"
#include "sim/units/signals.h"

namespace weft::routing {

// Names a flow to the switches on its way, so that they can address its source.
struct FlowRef {
  std::uint32_t sender = 0, receiver = 0;  // hosts
  std::uint32_t number = 0;                // among the sender's, for good
  std::uint32_t receive_slot = 0;          // of the receiver's, for those that carry the answer
  // Stable identity, the same on every switch.
  std::uint64_t identity() const { return std::uint64_t{sender} << 32 | number; }
};

// What a switch may see of a packet.
struct PacketView {
  static constexpr std::uint32_t kMadeHere = UINT32_MAX;

  FlowRef flow;
  std::uint32_t source = 0, destination = 0;  // hosts; of an ACK the other way round than of its data
  std::uint32_t entropy = 0;                  // chosen by the sender's PathSelector (UDP port / flow label)
  std::uint32_t bytes = 0;                    // on the wire
  std::uint32_t in_port = kMadeHere;          // that it came through
  std::uint32_t number = 0;                   // data: among the flow's packets; ACK: the one it answers
  // ACKs and NACKs: all packets of the flow below this number have arrived. Others: 0.
  std::uint32_t acked_below = 0;
  // Data: when its first bit left the NIC; an ACK echoes its data packet's. Time::max(): not told.
  Time sent = Time::max();
  bool control = false;  // ACK or other small packet without user bytes
  bool marked = false;
};

// What stands beside a packet for switches, where a policy keeps it (SwitchAsks::notes). Empty when the
// packet leaves its NIC; policies alone read and write it.
struct RouteNote {
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  std::uint32_t via = kNowhere;  // an intermediate node or group, as the policy numbers them
  std::uint8_t phase = 0;
  std::uint8_t channel = 0;  // virtual channel, for disciplines that let routing choose it
  std::uint16_t tag = 0;
  bool operator==(const RouteNote&) const = default;
};

// The way that a data packet came, which its ACK goes back (SwitchAsks::acks_retrace).
struct Trail {
  static constexpr std::size_t kMost = 15;
  static constexpr std::uint16_t kAsked = 0x8000;
  // That it came in through, at each switch; with kAsked where the policy was asked about it.
  std::array<std::uint16_t, kMost> ports{};
  std::uint16_t length = 0;
  bool operator==(const Trail&) const = default;
};

// A way that is named hop by hop: the port that the packet leaves through at each switch, from the one at the
// NIC's cable on; the last leads to the destination. See source_route.h.
struct SourceRoute {
  static constexpr std::size_t kMost = 15;
  std::array<std::uint16_t, kMost> ports{};  // positions in Topology::out_channels of the switch
  std::uint16_t length = 0;
  bool operator==(const SourceRoute&) const = default;
};

// What a switch tells the others at intervals. Its meaning is the policy's, but that zeros are nothing: where
// all switches tell nothing and nothing happens, none is asked until something does.
struct Snapshot {
  std::array<std::uint32_t, 16> words{};
};

// A policy's view of its own switch, and what it may do there. Nothing else can be reached: what others do
// is known from packets that come by, and from snapshots.
class OwnSwitch {
 public:
  virtual ~OwnSwitch() = default;
  virtual std::uint32_t index() const = 0;  // among the switches
  virtual std::uint32_t ports() const = 0;
  virtual Time now() const = 0;
  // The switch's own stream: ties are broken by it, or switches that see the same do the same.
  virtual sim::RandomStream& random() = 0;
  // How long what waits at the port and what is being sent takes, under every discipline.
  virtual Time backlog(std::uint32_t port) = 0;
  // Nothing that arrives for the port could leave, however short the backlog: it is paused, has no credits,
  // or its link is down.
  virtual bool held(std::uint32_t port) = 0;
  // The port with the least backlog that isn't held; by lot among equals. REQUIRES: `ports` is not empty.
  virtual std::uint32_t least_loaded(std::span<const std::uint32_t> ports) = 0;
  // No link of the network is or was down.
  virtual bool all_up() const = 0;
  // Its link is not down.
  virtual bool is_up(std::uint32_t port) const = 0;
  virtual bool to_host(std::uint32_t port) const = 0;
  // What left its source so long ago has arrived or is lost: the network's least retransmission timeout.
  // Where packets are not dropped but held up, they may take longer.
  virtual Time packet_lifetime() const = 0;
  // The ports on minimal paths to a host; none if there is no way. Good until the call after the next.
  virtual std::span<const std::uint32_t> minimal(std::uint32_t host) = 0;
};

// Is a switch where something happens now, so that something may follow.
class ActiveSwitch : public OwnSwitch {
 public:
  // SwitchPolicy::timer() is called then. REQUIRES: when >= now().
  virtual void set_timer(Time when, std::uint32_t cookie) = 0;
  // Sends the flow's source a packet of an ACK's size: it is to send no more for now, or to go on. It travels
  // through the network like others.
  virtual void pause(const FlowRef& flow) = 0;
  virtual void resume(const FlowRef& flow) = 0;
};

struct Output {
  static constexpr std::uint8_t kSameChannel = UINT8_MAX;
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  std::uint32_t port = 0;  // kNowhere: the packet is dropped
  // Virtual channel, into RouteNote::channel: for disciplines that let routing choose it.
  std::uint8_t channel = kSameChannel;
  // Where asked for (SwitchAsks::names_routes), the rest of the packet's way, from this switch on: its first
  // port is `port`. Followed without asking any policy, as a selector's (Path::route). Copied.
  const SourceRoute* route = nullptr;
};

// A number as if drawn at random for this packet, each time it is sent: what depends on it may be asked
// ahead. `salt`: draws with different ones are independent.
inline std::uint32_t packet_draw(const PacketView& packet, std::uint64_t salt) {
  const std::uint64_t each = packet.flow.identity() * 0xD1342543DE82EF95ULL + packet.number;
  const auto sent = static_cast<std::uint64_t>(packet.sent.ps());
  return hash_word(packet.entropy, sim::mix64(each ^ sent * 0xAF251AF3B0F025B5ULL) ^ salt);
}

// A packet on its way to a switch.
struct Coming {
  std::uint64_t flow = 0;  // FlowRef::identity()
  std::uint32_t destination = 0;
  const RouteNote& note;
  bool control = false;
};

// What can be told of it.
struct Foreseen {
  std::span<const std::uint32_t> ports;  // that it may leave through; their state is fetched
  // It is one port, and choose() will return that, whatever the loads, and leave the note as it is.
  bool sure = false;
};

// One object per switch, so it may keep state.
class SwitchPolicy {
 public:
  virtual ~SwitchPolicy() = default;
  // The port that the packet leaves through. `minimal`: ports on minimal paths, in a fixed order, none with a
  // link that is down; at least two, or one if SwitchAsks::single; none with SwitchAsks::own_ports. Any other
  // port may be returned, but for those to other hosts.
  virtual Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                        ActiveSwitch& here) = 0;
  // Where asked for: such a packet will be here soon. A place to fetch into the cache what choose() will
  // read, and for nothing else. Of control packets that it is not asked about it isn't told.
  virtual Foreseen foresee(const Coming& /*packet*/) const { return {}; }
  // An ACK that retraces its way takes this port. Where choose() was asked about its data.
  virtual void retraced(const PacketView& /*packet*/, std::uint32_t /*port*/, ActiveSwitch& /*here*/) {}
  // Where asked for: a packet has left to its last bit; was dropped at the port; lost its payload there.
  virtual void departed(const PacketView& /*packet*/, std::uint32_t /*port*/, ActiveSwitch& /*here*/) {}
  virtual void dropped(const PacketView& /*packet*/, std::uint32_t /*port*/, ActiveSwitch& /*here*/) {}
  virtual void trimmed(const PacketView& /*packet*/, std::uint32_t /*port*/, ActiveSwitch& /*here*/) {}
  virtual void timer(std::uint32_t /*cookie*/, ActiveSwitch& /*here*/) {}
  // Snapshots, where there are any: what this switch tells all others, and what another one has told, a delay
  // ago.
  virtual Snapshot publish(OwnSwitch& /*here*/) { return {}; }
  virtual void heard(std::uint32_t /*from*/, const Snapshot& /*snapshot*/) {}
  // What it has counted, in a fixed order; summed over all switches.
  virtual Signals signals() const { return {}; }
};

// Where policies act.
enum class Placement : std::uint8_t {
  kAll,
  kIngress,  // at the switch that a packet's source is attached to; else the built-in rule
};

// What a policy asks of switches; what it doesn't ask for costs nothing.
struct SwitchAsks {
  Placement placement = Placement::kAll;
  bool control = true;                  // ACKs and other small packets too; else they take the built-in rule
  bool single = false;                  // also where there is one candidate
  bool single_if_links_change = false;  // the same, but only in runs in which links fail or come back
  // The policy finds its ports by itself: as long as no link has failed it is asked about each packet, with
  // no ports to choose from (OwnSwitch::minimal() tells them).
  bool own_ports = false;
  // choose() depends on nothing but the packet, its note and the switch: not on time, loads, a stream of
  // draws (packet_draw() has one for each packet) or what came before. It may be asked ahead of time, and
  // about one packet more than once.
  bool ahead = false;
  bool foresees = false;  // SwitchPolicy::foresee()
  // A port is final: where its link is down the packet is lost, and takes no detour.
  bool no_detours = false;
  bool names_routes = false;  // Output::route
  bool departures = false;    // SwitchPolicy::departed()
  bool losses = false;        // dropped() and trimmed()
  bool notes = false;         // a RouteNote beside each packet
  bool acks_retrace = false;
  // Every switch tells all others so often; 0: never. What is told takes `snapshot_delay`, above 0: no less
  // than a message would through the network.
  Time snapshot_period, snapshot_delay;
};

}  // namespace weft::routing
