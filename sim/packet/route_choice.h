// A switch's choice of port: the built-in rule, or the routing policy's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "sim/packet/minimal_ways.h"
#include "sim/packet/policy_news.h"
#include "sim/packet/policy_view.h"
#include "sim/packet/scheduled_server.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/trails.h"
#include "sim/packet/wires.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// Chooses where packets go at one partition's switches.
class RouteChoice {
 public:
  RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding, SwitchPolicies& policies);
  RouteChoice(const RouteChoice&) = delete;
  RouteChoice& operator=(const RouteChoice&) = delete;

  // Nothing but the packet and the table decides: it may be worked out ahead.
  bool is_plain() const { return mode_ == Mode::kHashed && !channels_.degraded; }
  // What is known ahead of a packet that a policy was asked about.
  struct Ahead {
    routing::RouteNote note;  // the packet's from here on, where `asked`
    bool asked = false;
    bool follows_route = false;               // its source has named the output
    std::uint32_t set = MinimalWays::kNoSet;  // of the table, where the output isn't known
  };
  // The output where policies choose, if that can be told ahead: of packets that they are not asked about, or
  // all that `SwitchAsks::ahead` holds for. Else kNoChannel, and maybe what the packet may choose from.
  [[gnu::always_inline]] ChannelId ahead(NodeId at, ChannelId in, PacketHandle handle, Ahead& ahead) {
    ahead.asked = ahead.follows_route = false;
    ahead.set = MinimalWays::kNoSet;
    if (channels_.degraded) [[unlikely]]
      return kNoChannel;
    ChannelId found = kNoChannel;
    if (trails_.any() && is_on_record(at, handle, ahead, found)) return found;
    if (!asks_.own_ports) {
      ahead.set = channels_.table->set_number(at, wires_.pool[handle].destination);
      const MinimalWays::Set& known = ways_.known_set(ahead.set);
      if (known.count == 1 && !asks_.single) return known.channel(0);
    }
    return ahead_asked(at, in, handle, ahead);
  }
  // Such a packet is here now, through channel `in`: leaves behind what it would, had it not been foreseen.
  bool leaves_traces() const { return trails_.of_foreseen(); }
  void leave_traces(ChannelId in, PacketHandle handle, const Ahead& ahead);
  bool any_policy() const { return mode_ >= Mode::kAsked; }
  const SwitchPolicies& policies() const { return policies_; }
  const MinimalWays& ways() const { return ways_; }
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
  ChannelId output(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set = MinimalWays::kNoSet) {
    return is_plain() ? plain(at, wires_.pool[handle]) : choose(at, in, handle, set);
  }
  // Another one in place of `c`, whose link is down, or `c` if there is none. The built-in rule decides,
  // unless the packet's source has named its way: then it is lost there.
  ChannelId detour(ChannelId c, PacketHandle handle);

  // A packet enters the network.
  void begin(PacketHandle handle) { trails_.begin(handle); }

  // What policies hear of beside.
  PolicyNews& news() { return news_; }

 private:
  // Who decides in this run; and of which packets at a switch, as long as no link is down, it is known ahead
  // what will be decided. In ascending order.
  enum class Mode : std::uint8_t {
    kHashed,    // the built-in rule: of all
    kRetraced,  // that; but ACKs go back as their data came: of none
    kNamed,     // the built-in rule where nobody has named a packet's way: of all but those that go back
    kAsked,     // policies, and who names ways: of packets that policies aren't asked about
    kSure,      // policies: the same, and of packets that they are sure of
    kAhead,     // policies that look at nothing but the packet: of all but those that go back
  };
  static Mode mode_of(const SwitchPolicies& policies);

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
  void take_route(NodeId at, ChannelId in, PacketHandle handle, const Answer& chosen);
  ChannelId fetch(NodeId at, PacketHandle handle, std::uint32_t set);
  void fetch_way_back(NodeId at, PacketHandle handle);
  MinimalWays::Ways ways_of(NodeId at, const Packet& packet, std::uint32_t set);
  Answer question(NodeId at, ChannelId in, const Packet& packet, routing::RouteNote& note,
                  const MinimalWays::Ways& ways);
  ChannelId ask(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set);
  bool is_asked(ChannelId in, const Packet& packet) const;

  Wires& wires_;
  const Channels& channels_;  // of wires_, where every hop finds them
  const Mode mode_;
  SwitchPolicies& policies_;
  MinimalWays ways_;
  Trails trails_;
  ViewedSwitches switches_;  // of all of these
  PolicyNews news_;
  const routing::SwitchAsks asks_;  // as they are meant in this run
  // Each packet that is being asked about has a list here: what a policy does may lead to another question.
  std::deque<std::vector<std::uint32_t>> ports_;
  std::size_t asking_ = 0;
};

}  // namespace weft::sim::packet
