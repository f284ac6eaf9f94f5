// What routing policies see: of a switch, and of a packet there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/packet/minimal_ways.h"
#include "sim/packet/scheduled_server.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/trails.h"
#include "sim/packet/wires.h"
#include "sim/routing/switch_policy.h"

namespace weft::sim::packet {

// What all views of one partition's switches are of.
struct ViewedSwitches {
  Wires& wires;
  ScheduledServer& scheduled;
  Forwarding& forwarding;
  SwitchPolicies& policies;
  MinimalWays& ways;
  Trails& trails;
  std::array<std::vector<std::uint32_t>, 2> lists{};  // what minimal() gave the last two times
  std::uint32_t list_turn = 0;
};

// One switch's, with all that its policy may do there, and nothing else. A new one for each call: calls may
// lead to others.
class PolicyView final : public routing::ActiveSwitch {
 public:
  PolicyView(ViewedSwitches& switches, NodeId at, Time now)
      : switches_(switches), channels_(switches.wires.channels), at_(at), now_(now) {}

  std::uint32_t index() const override { return switches_.policies.switch_at(at_); }
  std::uint32_t ports() const override;
  Time now() const override { return now_; }
  RandomStream& random() override { return switches_.policies.site(index()).random; }
  Time backlog(std::uint32_t port) override;
  bool held(std::uint32_t port) override;
  std::uint32_t least_loaded(std::span<const std::uint32_t> ports) override;
  bool all_up() const override { return !channels_.degraded; }
  bool is_up(std::uint32_t port) const override;
  bool to_host(std::uint32_t port) const override;
  Time packet_lifetime() const override { return channels_.packet_lifetime; }
  std::span<const std::uint32_t> minimal(std::uint32_t host) override;
  void set_timer(Time when, std::uint32_t cookie) override;
  void pause(const routing::FlowRef& flow) override { tell_source(flow, PacketKind::kPause); }
  void resume(const routing::FlowRef& flow) override { tell_source(flow, PacketKind::kResume); }

 private:
  ChannelId channel(PortId port) const { return ChannelId(channels_.topology.out_channels(at_)[port]); }
  std::int64_t settled_backlog_ps(ChannelId c, PortId port) const;
  std::int64_t load_ps(PortId port);
  void tell_source(const routing::FlowRef& flow, PacketKind kind);

  ViewedSwitches& switches_;
  Channels& channels_;
  const NodeId at_;
  const Time now_;
};

// What a policy may see of a packet; `in`: the channel it came through, or kNoChannel.
[[gnu::always_inline]] inline routing::PacketView view_of(const Channels& channels, ChannelId in,
                                                          const Packet& packet) {
  const bool forth = packet.sender() == packet.source;
  const bool answers = packet.ack() || packet.kind == PacketKind::kNack;
  return {.flow = {.sender = packet.sender(),
                   .receiver = forth ? packet.destination : packet.source,
                   .number = packet.flow_number,
                   .receive_slot = packet.data() ? packet.flow : UINT32_MAX},
          .source = packet.source,
          .destination = packet.destination,
          .entropy = packet.entropy,
          .bytes = packet.bytes,
          .in_port = in == kNoChannel ? routing::PacketView::kMadeHere : channels.end_ports[in],
          .number = packet.number,
          .acked_below = answers ? packet.cumulative() : 0,
          .sent = packet.data() || packet.ack() ? Time::ps(packet.sent_ps) : Time::max(),
          .control = packet.control(),
          .marked = packet.marked()};
}

}  // namespace weft::sim::packet
