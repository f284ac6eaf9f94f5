// The ways of packets, as they stand beside them: routes that were named, trails that ACKs go back.
#pragma once

#include <cstdint>

#include "sim/packet/channels.h"
#include "sim/packet/ids.h"
#include "sim/packet/packet.h"
#include "sim/packet/switch_policies.h"
#include "sim/routing/switch_policy.h"

namespace weft::sim::packet {

// Keeps what stands beside one partition's packets. What a run has no use for is not kept.
class Trails {
 public:
  Trails(PacketPool& pool, const Channels& channels, const SwitchPolicies& policies);

  // ACKs go back as their data came.
  bool retraced() const { return beside_ & kTrail; }
  // Some packets' ways are known from what stands beside them.
  bool any() const { return beside_ & (kTrail | kRoute); }
  // A packet whose output is known ahead leaves something behind all the same.
  bool of_foreseen() const { return beside_ & (kTrail | kRoute | kNoteAhead); }

  // A packet enters the network: what stood beside the one that had its handle before is void.
  void begin(PacketHandle handle) {
    if (beside_ & (kTrail | kNote | kTelemetry)) [[unlikely]]
      reset(handle);
  }

  // Its way was named; an ACK only tells which one that was.
  bool has_route(PacketHandle handle) const {
    if (!(beside_ & kRoute)) [[likely]]
      return false;
    const Packet& packet = pool_[handle];
    if (!packet.data() || packet.returned()) return false;
    const RouteRecord* const record = pool_.routes().find(handle);
    return record != nullptr && record->route.length > 0;
  }
  // The output of such a packet at a switch, which is then behind it. Throws std::logic_error if the route
  // names none: a selector's was checked when the packet was sent, a policy's is here.
  ChannelId follow_route(NodeId at, PacketHandle handle) {
    const ChannelId c = route_ahead(at, handle);
    pass_named(handle);
    if (c == kNoChannel) [[unlikely]]
      refuse_route();
    return c;
  }
  // Gives the output of such a packet before it is there: kNoChannel if the route is no good, which is said
  // when it is there; and then the switch is behind it.
  ChannelId route_ahead(NodeId at, PacketHandle handle) const {
    const RouteRecord& record = *pool_.routes().find(handle);
    if (record.next >= record.route.length) return kNoChannel;
    const auto out = channels_.topology.out_channels(at);
    const std::uint16_t port = record.route.ports[record.next];
    return port < out.size() ? ChannelId(out[port]) : kNoChannel;
  }
  void pass_named(PacketHandle handle) { ++pool_.routes().find(handle)->next; }

  // A packet has come through a channel. A trail that is too long says so, and is not followed. REQUIRES:
  // retraced().
  void note_way(ChannelId in, PacketHandle handle) {
    if (!pool_[handle].data() || in == kNoChannel) return;
    routing::Trail& trail = *pool_.trails().find(handle);
    if (trail.length > routing::Trail::kMost) return;
    if (trail.length < routing::Trail::kMost) {
      trail.ports[trail.length] = static_cast<std::uint16_t>(channels_.end_ports[in]);
    }
    ++trail.length;
  }
  // The policy was asked about the packet at the switch where it is.
  void note_asked(PacketHandle handle) {
    if (!retraced() || !pool_[handle].data()) return;
    routing::Trail& trail = *pool_.trails().find(handle);
    if (trail.length == 0 || trail.length > routing::Trail::kMost) return;
    trail.ports[trail.length - 1] |= routing::Trail::kAsked;
  }

  // A step back on the way that a packet's data came.
  struct Step {
    ChannelId channel = kNoChannel;  // kNoChannel: that isn't known
    std::uint32_t port = 0;
    bool asked = false;  // the policy there was asked about the data
  };
  // Leads an ACK or NACK back from a switch, if all of its trail was noted and the link is there; a packet
  // whose link is down finds its own way from here on.
  Step step_back(NodeId at, PacketHandle handle) {
    const PacketKind kind = pool_[handle].kind;
    if (kind != PacketKind::kAck && kind != PacketKind::kNack) return {};
    routing::Trail* const trail = pool_.trails().find(handle);
    if (!is_good(trail)) return {};
    const Step step = last_of(*trail, at);
    --trail->length;
    if (!channels_.degraded || !(channels_.hot[step.channel].flags & kDown)) [[likely]]
      return step;
    trail->length = 0;
    return {};
  }
  // Gives the step before the packet is there, as if its link were up.
  Step step_ahead(NodeId at, PacketHandle handle) const {
    const routing::Trail* const trail = pool_.trails().find(handle);
    return is_good(trail) ? last_of(*trail, at) : Step();
  }

 private:
  // What stands beside packets in this run.
  enum Beside : std::uint8_t {
    kTrail = 1,
    kRoute = 2,
    kNote = 4,       // of policies
    kNoteAhead = 8,  // notes are of policies that are asked ahead
    kTelemetry = 16,
  };

  [[noreturn]] static void refuse_route();
  void reset(PacketHandle handle);
  static bool is_good(const routing::Trail* trail) {
    return trail != nullptr && trail->length > 0 && trail->length <= routing::Trail::kMost;
  }
  // REQUIRES: is_good().
  Step last_of(const routing::Trail& trail, NodeId at) const {
    const std::uint16_t noted = trail.ports[trail.length - 1];
    const std::uint32_t port = noted & ~std::uint32_t{routing::Trail::kAsked};
    return {.channel = ChannelId(channels_.topology.out_channels(at)[port]),
            .port = port,
            .asked = (noted & routing::Trail::kAsked) != 0};
  }

  PacketPool& pool_;
  const Channels& channels_;
  const std::uint8_t beside_;  // Beside
};

}  // namespace weft::sim::packet
