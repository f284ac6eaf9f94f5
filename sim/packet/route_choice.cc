#include "sim/packet/route_choice.h"

#include <algorithm>
#include <stdexcept>

namespace weft::sim::packet {
namespace {

// Reads a note by its parts, not as one word: that would wait for a part of it that was written just before.
routing::RouteNote by_parts(const routing::RouteNote& note) {
  const auto opaque = [](auto part) {
    asm("" : "+r"(part));
    return part;
  };
  return {.via = opaque(note.via),
          .phase = opaque(note.phase),
          .channel = opaque(note.channel),
          .tag = opaque(note.tag)};
}

// Without policies nobody is given any ports.
routing::SwitchAsks asks_of_run(const SwitchPolicies& policies, const Channels& channels) {
  routing::SwitchAsks asks = policies.asks();
  asks.single |= asks.single_if_links_change && channels.links_change;
  asks.own_ports |= !policies.any();
  return asks;
}

}  // namespace

RouteChoice::Mode RouteChoice::mode_of(const SwitchPolicies& policies) {
  const bool named = policies.source_routes();
  if (policies.any()) return named ? Mode::kAsked : policies.asks().ahead ? Mode::kAhead : Mode::kSure;
  if (named) return Mode::kNamed;
  return policies.asks().acks_retrace ? Mode::kRetraced : Mode::kHashed;
}

RouteChoice::RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding,
                         SwitchPolicies& policies)
    : wires_(wires),
      channels_(wires.channels),
      mode_(mode_of(policies)),
      policies_(policies),
      ways_(wires.channels, policies.any(), &policies),
      trails_(wires.pool, wires.channels, policies),
      switches_{wires, scheduled, forwarding, policies, ways_, trails_},
      news_(switches_),
      asks_(asks_of_run(policies, wires.channels)) {
  if (any_policy() && asks_.notes) wires_.pool.notes().keep();
}

ChannelId RouteChoice::built_in(NodeId at, const Packet& packet,
                                std::span<const std::uint32_t> candidates) const {
  if (candidates.empty()) return kNoChannel;
  return ChannelId(
      candidates[routing::hash_choice(packet.entropy, wires_.channels.salts[at], candidates.size())]);
}

ChannelId RouteChoice::detour(ChannelId c, PacketHandle handle) {
  const Channels& channels = wires_.channels;
  if (channels.ends[opposite(c)].is_host() || trails_.has_route(handle)) return c;
  const Packet& packet = wires_.pool[handle];
  if (asks_.no_detours && !packet.control()) return c;
  const NodeId at = channels.places[c].vertex;
  std::vector<std::uint32_t> left;
  for (const std::uint32_t other : channels.table->candidates(at, packet.destination)) {
    if (!(channels.hot[other].flags & kDown)) left.push_back(other);
  }
  const ChannelId other = built_in(at, packet, left);
  if (other == kNoChannel) return c;
  ++wires_.counters.detours;
  return other;
}

// The rest of the way of a packet, as a policy has named it.
void RouteChoice::take_route(NodeId at, ChannelId in, PacketHandle handle, const Answer& chosen) {
  const auto out = channels_.topology.out_channels(at);
  if (!asks_.names_routes || in == kNoChannel || chosen.route->ports[0] >= out.size() ||
      out[chosen.route->ports[0]] != chosen.channel) {
    throw std::logic_error(
        "a routing policy names a route that does not begin with the port it chose, or "
        "does not declare that it names any (SwitchAsks::names_routes)");
  }
  wires_.pool.routes().set(handle, {.route = *chosen.route, .next = 1});
}

// At a switch with a policy that is asked about such packets.
bool RouteChoice::is_asked(ChannelId in, const Packet& packet) const {
  if (!any_policy() || (packet.control() && !asks_.control)) return false;
  return asks_.placement == routing::Placement::kAll ||
         (in != kNoChannel && wires_.channels.ends[opposite(in)].is_host());
}

ChannelId RouteChoice::choose(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set) {
  if (trails_.retraced()) trails_.note_way(in, handle);
  if (trails_.has_route(handle)) return trails_.follow_route(at, handle);
  if (!channels_.degraded) {
    if (trails_.retraced()) {
      if (const ChannelId c = retrace(at, in, handle); c != kNoChannel) return c;
    }
    return is_asked(in, wires_.pool[handle]) ? ask(at, in, handle, set) : plain(at, wires_.pool[handle]);
  }
  const auto candidates = wires_.channels.table->candidates(at, wires_.pool[handle].destination);
  if (candidates.empty()) return kNoChannel;
  if (trails_.retraced()) {
    if (const ChannelId c = retrace(at, in, handle); c != kNoChannel) return c;
  }
  if (!is_asked(in, wires_.pool[handle])) return built_in(at, wires_.pool[handle], candidates);
  return ask(at, in, handle, MinimalWays::kNoSet);
}

// What a policy may look at; the output if that is known from it.
ChannelId RouteChoice::fetch(NodeId at, PacketHandle handle, std::uint32_t set) {
  constexpr std::size_t kMost = 16;
  const Packet& packet = wires_.pool[handle];
  if (asks_.foresees) {
    const routing::RouteNote note = wires_.pool.notes().get(handle);
    const routing::Foreseen foreseen =
        policies_.policy_at(at).foresee({.flow = std::uint64_t{packet.sender()} << 32 | packet.flow_number,
                                         .destination = packet.destination,
                                         .note = note,
                                         .control = packet.control()});
    if (foreseen.sure && !trails_.retraced() && mode_ >= Mode::kSure) {
      return ways_.channel_of(at, foreseen.ports.front());
    }
    for (const std::uint32_t port : foreseen.ports.first(std::min(foreseen.ports.size(), kMost))) {
      __builtin_prefetch(&channels_.hot[ways_.channel_of(at, port)], 1);
    }
    return kNoChannel;
  }
  if (set == MinimalWays::kNoSet) return kNoChannel;
  const MinimalWays::Set& known = ways_.known_set(set);
  for (std::uint32_t i = 0; i < std::min<std::size_t>(known.count, kMost); ++i) {
    __builtin_prefetch(&channels_.hot[known.channel(i)], 1);
  }
  return kNoChannel;
}

// An ACK that will go back as its data came: the port, and what its policy keeps of the flow.
void RouteChoice::fetch_way_back(NodeId at, PacketHandle handle) {
  const Trails::Step step = trails_.step_ahead(at, handle);
  if (step.channel == kNoChannel) return;
  __builtin_prefetch(&channels_.hot[step.channel], 1);
  if (asks_.foresees && step.asked) (void)fetch(at, handle, MinimalWays::kNoSet);
}

void RouteChoice::leave_traces(ChannelId in, PacketHandle handle, const Ahead& ahead) {
  if (trails_.retraced()) trails_.note_way(in, handle);
  if (ahead.follows_route) trails_.pass_named(handle);
  if (!ahead.asked) return;
  trails_.note_asked(handle);
  wires_.pool.notes().set(handle, ahead.note);
}

// What may be chosen from at a switch, before the policy is asked.
[[gnu::always_inline]] inline MinimalWays::Ways RouteChoice::ways_of(NodeId at, const Packet& packet,
                                                                     std::uint32_t set) {
  if (asks_.own_ports && !channels_.degraded) return {};
  return ways_.towards(at, packet.destination, set, [this]() -> std::vector<std::uint32_t>& {
    if (asking_ == ports_.size()) ports_.emplace_back();
    return ports_[asking_];
  });
}

// What the policy says of a packet. REQUIRES: is_asked().
[[gnu::always_inline]] inline RouteChoice::Answer RouteChoice::question(NodeId at, ChannelId in,
                                                                        const Packet& packet,
                                                                        routing::RouteNote& note,
                                                                        const MinimalWays::Ways& ways) {
  if (!asks_.own_ports || channels_.degraded) {
    if (ways.ports.empty()) {
      const auto candidates = channels_.table->candidates(at, packet.destination);
      return {candidates.empty() ? kNoChannel : ChannelId(candidates.front())};  // it is lost there
    }
    if (channels_.degraded) [[unlikely]] {
      wires_.counters.detours +=
          ways.ports.size() < channels_.table->candidates(at, packet.destination).size();
    }
  }
  if (ways.ports.size() == 1 && !asks_.single) {
    return {ChannelId(channels_.topology.out_channels(at)[ways.ports.front()])};
  }
  const routing::PacketView view = view_of(channels_, in, packet);
  PolicyView here(switches_, at, wires_.engine.now());
  ++asking_;
  const routing::Output output = policies_.policy_at(at).choose(view, note, ways.ports, here);
  --asking_;
  if (output.port == routing::Output::kNowhere) return {.asked = true};
  ChannelId channel = ways.channel(output.port);
  if (channel == kNoChannel) channel = ways_.checked_exit(at, output.port, packet.destination);
  if (output.channel != routing::Output::kSameChannel) note.channel = output.channel;
  return {.channel = channel, .asked = true, .route = output.route};
}

// What stands beside the packet tells it, or that nothing is to be told.
bool RouteChoice::is_on_record(NodeId at, PacketHandle handle, Ahead& ahead, ChannelId& found) {
  found = kNoChannel;
  if (trails_.has_route(handle)) {
    ahead.follows_route = true;
    found = trails_.route_ahead(at, handle);
    return true;
  }
  if (!trails_.retraced() || wires_.pool[handle].data()) return false;
  fetch_way_back(at, handle);
  return true;
}

ChannelId RouteChoice::ahead_asked(NodeId at, ChannelId in, PacketHandle handle, Ahead& ahead) {
  const Packet& packet = wires_.pool[handle];
  if (!is_asked(in, packet)) return mode_ >= Mode::kNamed ? plain(at, packet) : kNoChannel;
  if (mode_ != Mode::kAhead || asks_.foresees) {
    const ChannelId c = fetch(at, handle, ahead.set);
    if (c != kNoChannel || mode_ != Mode::kAhead) return c;
  }
  ahead.note = wires_.pool.notes().get(handle);
  const Answer answer = question(at, in, packet, ahead.note, ways_of(at, packet, ahead.set));
  ahead.asked = answer.asked;
  return answer.channel;
}

ChannelId RouteChoice::ask(NodeId at, ChannelId in, PacketHandle handle, std::uint32_t set) {
  routing::RouteNote note = wires_.pool.notes().get(handle);
  const Answer answer = question(at, in, wires_.pool[handle], note, ways_of(at, wires_.pool[handle], set));
  if (!answer.asked) return answer.channel;
  trails_.note_asked(handle);
  if (answer.channel == kNoChannel) return kNoChannel;
  wires_.pool.notes().set(handle, by_parts(note));
  if (answer.route != nullptr) take_route(at, in, handle, answer);
  return answer.channel;
}

// The way that its data packet came, if that is known.
ChannelId RouteChoice::retrace(NodeId at, ChannelId in, PacketHandle handle) {
  const Trails::Step step = trails_.step_back(at, handle);
  if (step.asked && asks_.control) {
    const routing::PacketView view = view_of(channels_, in, wires_.pool[handle]);
    PolicyView here(switches_, at, wires_.engine.now());
    policies_.policy_at(at).retraced(view, step.port, here);
  }
  return step.channel;
}

}  // namespace weft::sim::packet
