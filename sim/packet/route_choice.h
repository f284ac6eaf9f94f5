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
#include "sim/packet/trails.h"
#include "sim/packet/wires.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// Of one partition's switches. Knows what a policy may see, and gives it nothing else.
class RouteChoice final : private PortListener {
 public:
  RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding, SwitchPolicies& policies);

  // Nothing but the packet and the table decides: it may be worked out ahead.
  bool is_plain() const { return is_hashed_ && !channels_.degraded; }
  // What is known ahead of a packet that a policy was asked about.
  struct Ahead {
    routing::RouteNote note;  // the packet's from here on, where `asked`
    bool asked = false;
    bool follows_route = false;  // its source has named the output
    std::uint32_t set = kNoSet;  // of the table, where the output isn't known
  };
  static constexpr std::uint32_t kNoSet = UINT32_MAX;
  // The output where policies choose, if that can be told ahead: of packets that they are not asked about, or
  // all that `SwitchAsks::ahead` holds for. Else kNoChannel, and maybe what the packet may choose from.
  [[gnu::always_inline]] ChannelId ahead(NodeId at, ChannelId in, PacketHandle handle, Ahead& ahead) {
    ahead.asked = ahead.follows_route = false;
    ahead.set = kNoSet;
    if (channels_.degraded) [[unlikely]]
      return kNoChannel;
    ChannelId found = kNoChannel;
    if (trails_.any() && is_on_record(at, handle, ahead, found)) return found;
    if (lists_ways_) {
      ahead.set = channels_.table->set_number(at, wires_.pool[handle].destination);
      const KnownSet& known = known_set(ahead.set);
      if (known.count == 1 && !asks_single_) return known.channel(0);
    }
    return ahead_asked(at, in, handle, ahead);
  }
  // Such a packet is here now, through channel `in`: leaves behind what it would, had it not been foreseen.
  bool leaves_traces() const { return trails_.of_foreseen(); }
  void leave_traces(ChannelId in, PacketHandle handle, const Ahead& ahead);
  bool any_policy() const { return policies_.any(); }
  const SwitchPolicies& policies() const { return policies_; }
  // Where the channels by port of a node begin.
  const std::uint32_t* exits_of(NodeId at) const { return &exits_begin_[at]; }
  // The output of the built-in rule; kNoChannel: there is no way, here and below. REQUIRES: is_plain().
  ChannelId plain(NodeId at, const Packet& packet) const {
    // By value: nothing is put into memory for the few lookups that are worked out elsewhere.
    const auto choose = [entropy = packet.entropy, salts = channels_.salts.data(), at](std::size_t count) {
      return routing::hash_choice(entropy, salts[at], count);
    };
    return ChannelId(channels_.table->candidate(at, packet.destination, choose));
  }
  // The output of a packet at a switch; `in`: the channel it came through, or kNoChannel. `set`: as ahead()
  // found it.
  ChannelId output(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set = kNoSet) {
    return is_plain() ? plain(at, wires_.pool[handle]) : choose(at, in, handle, set);
  }
  // Another one in place of `c`, whose link is down, or `c` if there is none. The built-in rule decides,
  // unless the packet's source has named its way: then it is lost there.
  ChannelId detour(ChannelId c, PacketHandle handle);

  // A packet enters the network.
  void begin(PacketHandle handle) { trails_.begin(handle); }

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

  ChannelId choose(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set);
  bool is_on_record(NodeId at, PacketHandle handle, Ahead& ahead, ChannelId& found);
  ChannelId ahead_asked(NodeId at, ChannelId in, PacketHandle handle, Ahead& ahead);
  ChannelId built_in(NodeId at, const Packet& packet, std::span<const std::uint32_t> candidates) const;
  ChannelId retrace(NodeId at, ChannelId in, PacketHandle handle);
  // What a policy answered.
  struct Answer {
    ChannelId channel = kNoChannel;  // kNoChannel: the packet is dropped
    bool asked = false;              // else there was nothing to choose
    const routing::SourceRoute* route = nullptr;
  };
  // A set of the table; most are ports that follow each other: then these are their list.
  struct KnownSet {
    static constexpr std::uint16_t kUnknown = UINT16_MAX, kIrregular = kUnknown - 1;
    std::uint32_t first = 0;  // channel; count 0: they aren't evenly spaced
    std::uint16_t count = 0, stride = 0;
    std::uint16_t first_port = kUnknown;
    ChannelId channel(std::uint32_t i) const { return ChannelId(first + i * stride); }
  };
  // The ports on minimal ways.
  struct Ways {
    std::span<const std::uint32_t> ports;  // none with a link that is down
    KnownSet set;                          // where they follow each other; else its count is 0
    // kNoChannel: the port isn't among them, or that isn't known.
    ChannelId channel(std::uint32_t port) const {
      const std::uint32_t i = port - set.first_port;
      return i < set.count ? set.channel(i) : kNoChannel;
    }
  };
  void take_route(NodeId at, ChannelId in, PacketHandle handle, const Answer& chosen);
  ChannelId fetch(NodeId at, PacketHandle handle, std::uint32_t set);
  void fetch_way_back(NodeId at, PacketHandle handle);
  Ways ways_of(NodeId at, const Packet& packet, std::uint32_t set = kNoSet);
  ChannelId channel_of(NodeId at, std::uint32_t port, std::uint32_t destination) const {
    const std::uint32_t i = exits_begin_[at] + port;
    if (i < exits_begin_[at + 1u] && !(exits_[i] & kHostBit)) [[likely]]
      return ChannelId(exits_[i]);
    return checked_channel(at, port, destination);
  }
  ChannelId checked_channel(NodeId at, std::uint32_t port, std::uint32_t destination) const;
  Answer question(NodeId at, ChannelId in, const Packet& packet, routing::RouteNote& note, const Ways& ways);
  ChannelId ask(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set);
  std::span<const std::uint32_t> list_ports(NodeId at, std::uint32_t host, std::vector<std::uint32_t>& room);
  const KnownSet& learn_set(std::uint32_t set);
  const KnownSet& known_set(std::uint32_t set) {
    if (reroutes_ == channels_.reroutes && set < sets_.size() && sets_[set].first_port != KnownSet::kUnknown)
        [[likely]]
      return sets_[set];
    return learn_set(set);
  }
  // `set`: the table's, if it is known. `room` gives where ports are put if they have to be listed.
  template <typename Room>
  Ways ways_towards(NodeId at, std::uint32_t host, std::uint32_t set, const Room& room);
  bool is_asked(ChannelId in, const Packet& packet) const;
  routing::PacketView view_of(ChannelId in, const Packet& packet) const;
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
  Trails trails_;
  const routing::SwitchAsks asks_;
  const bool asks_single_;  // also where there is one candidate
  const bool foresees_;     // some packets' outputs
  const bool asks_sure_;    // of packets that were foreseen for sure
  const bool asks_ahead_;
  const bool lists_ways_;  // for policies, which don't find them by themselves
  // Of packets that are being asked about: what a policy does may lead to another question.
  std::deque<std::vector<std::uint32_t>> ports_;
  std::size_t asking_ = 0;
  std::array<std::vector<std::uint32_t>, 2> found_;  // what a view's minimal() gave the last two times
  std::uint32_t found_turn_ = 0;
  std::vector<KnownSet> sets_;              // by set of the table, as they come up
  std::uint32_t reroutes_ = 0;              // that sets_ are of
  std::vector<std::uint32_t> numbers_;      // 0, 1, 2 …
  std::vector<std::uint32_t> exits_begin_;  // into exits_, by node and one behind the last
  std::vector<std::uint32_t> exits_;        // channels by port, with kHostBit where they lead to hosts
  std::vector<Departing> departing_;
  std::vector<std::uint32_t> unused_departing_;
  std::unique_ptr<routing::OwnSwitch> quiet_view_;  // of view()
};

}  // namespace weft::sim::packet
