// A switch's choice of port: the built-in rule, or the routing policy's.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "sim/packet/scheduled_server.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/wires.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// Of one partition's switches. Knows what a policy may see, and gives it nothing else.
class RouteChoice final : private PortListener {
 public:
  RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding, SwitchPolicies& policies);

  // Nothing but the packet and the table decides: it may be worked out ahead.
  bool is_plain() const { return is_hashed_ && !channels_.degraded; }
  // What is worked out ahead where policies choose: of packets that they are not asked about, or all that
  // `SwitchAsks::ahead` holds for.
  struct Ahead {
    ChannelId channel = kNoChannel;  // kNoChannel: nothing is known yet
    routing::RouteNote note;         // the packet's from here on, where `asked`
    bool asked = false;
  };
  Ahead ahead(NodeId at, ChannelId in, PacketHandle handle);
  // Such a packet is here now, through channel `in`: leaves behind what it would, had it not been foreseen.
  bool leaves_traces() const { return leaves_traces_; }
  void leave_traces(ChannelId in, PacketHandle handle, const Ahead& ahead);
  bool any_policy() const { return policies_.any(); }
  [[gnu::always_inline]] void prefetch_policy(NodeId at) const { policies_.prefetch(at); }
  // The output of the built-in rule; kNoChannel: there is no way, here and below. REQUIRES: is_plain().
  ChannelId plain(NodeId at, const Packet& packet) const {
    // By value: nothing is put into memory for the few lookups that are worked out elsewhere.
    const auto choose = [entropy = packet.entropy, salts = channels_.salts.data(), at](std::size_t count) {
      return routing::hash_choice(entropy, salts[at], count);
    };
    return ChannelId(channels_.table->candidate(at, packet.destination, choose));
  }
  // The output of a packet at a switch; `in`: the channel it came through, or kNoChannel.
  ChannelId output(NodeId at, ChannelId in, PacketHandle handle) {
    return is_plain() ? plain(at, wires_.pool[handle]) : choose(at, in, handle);
  }
  // Another one in place of `c`, whose link is down, or `c` if there is none. The built-in rule decides,
  // unless the packet's source has named its way: then it is lost there.
  ChannelId detour(ChannelId c, PacketHandle handle);

  // A packet enters the network: what stood beside the one that had its handle before is void.
  void begin(PacketHandle handle) {
    if (keeps_records_) [[unlikely]]
      reset_records(handle);
  }

  // Events.
  void timer(SwitchId at, std::uint32_t cookie);
  void departed(std::uint32_t record);
  // At a moment when no partition runs.
  routing::OwnSwitch& view(SwitchId at, Time now);

 private:
  class Here;
  // A packet that is leaving a port.
  struct Departing {
    routing::PacketView view;
    ChannelId channel{0};
  };

  ChannelId choose(NodeId at, ChannelId in, PacketHandle handle);
  bool has_route(PacketHandle handle) const;
  ChannelId follow_route(NodeId at, PacketHandle handle);
  void take_route(ChannelId in, PacketHandle handle, const routing::Output& chosen);
  ChannelId built_in(NodeId at, const Packet& packet, std::span<const std::uint32_t> candidates) const;
  ChannelId retrace(NodeId at, ChannelId in, PacketHandle handle);
  // What a policy answered.
  struct Answer {
    ChannelId channel = kNoChannel;  // kNoChannel: the packet is dropped
    routing::Output output;
    bool asked = false;  // else there was nothing to choose
  };
  Ahead fetch(NodeId at, PacketHandle handle);
  void fetch_way_back(NodeId at, PacketHandle handle);
  Answer question(NodeId at, ChannelId in, const Packet& packet, routing::RouteNote& note);
  ChannelId ask(NodeId at, ChannelId in, PacketHandle handle);
  void note_way(ChannelId in, PacketHandle handle);
  std::span<const std::uint32_t> list_ports(NodeId at, std::uint32_t host, std::vector<std::uint32_t>& room);
  std::uint16_t find_first_port(std::uint32_t set);
  std::uint16_t first_port(std::uint32_t set);
  // The ports on minimal ways whose links are up; `room` gives where they are put if they have to be listed.
  template <typename Room>
  std::span<const std::uint32_t> ports_towards(NodeId at, std::uint32_t host, const Room& room);
  bool is_asked(ChannelId in, const Packet& packet) const;
  routing::PacketView view_of(ChannelId in, const Packet& packet) const;
  void reset_records(PacketHandle handle);
  void note_asked(PacketHandle handle);
  // PortListener.
  void departs(ChannelId c, PacketHandle handle, std::int64_t departure_ps) override;
  void dropped(ChannelId c, PacketHandle handle) override;
  void trimmed(ChannelId c, PacketHandle handle) override;

  Wires& wires_;
  const Channels& channels_;  // of wires_, where every hop finds them
  const bool is_hashed_;      // by all switches, while all links are there
  ScheduledServer& scheduled_;
  Forwarding& forwarding_;
  SwitchPolicies& policies_;
  const routing::SwitchAsks asks_;
  const bool keeps_records_;
  const bool asks_single_;  // also where there is one candidate
  const bool foresees_;     // some packets' outputs
  const bool asks_ahead_;
  const bool leaves_traces_;
  // Of packets that are being asked about: what a policy does may lead to another question.
  std::deque<std::vector<std::uint32_t>> ports_;
  std::size_t asking_ = 0;
  std::array<std::vector<std::uint32_t>, 2> found_;  // what a view's minimal() gave the last two times
  std::uint32_t found_turn_ = 0;
  // Most sets of candidates are ports that follow each other: then these are their list.
  static constexpr std::uint16_t kUnknown = UINT16_MAX, kIrregular = kUnknown - 1;
  std::vector<std::uint16_t> first_ports_;  // by set of the table
  std::uint32_t reroutes_ = 0;              // that first_ports_ are of
  std::vector<std::uint32_t> numbers_;      // 0, 1, 2 …
  std::vector<Departing> departing_;
  std::vector<std::uint32_t> unused_departing_;
  std::unique_ptr<routing::OwnSwitch> quiet_view_;  // of view()
};

}  // namespace weft::sim::packet
