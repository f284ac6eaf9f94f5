#include "sim/packet/route_choice.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "sim/routing/path_draws.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kDepartedSequence = UINT32_MAX - 1;

// The same, not read as one word: that would wait for a part of it that was written just before.
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

}  // namespace

// A policy's view of one switch. A new one for each call: calls may lead to others.
class RouteChoice::Here final : public routing::ActiveSwitch {
 public:
  Here(RouteChoice& choice, NodeId at, Time now)
      : choice_(choice), channels_(choice.wires_.channels), at_(at), now_(now) {}

  std::uint32_t index() const override { return choice_.policies_.switch_at(at_); }
  std::uint32_t ports() const override {
    return static_cast<std::uint32_t>(channels_.topology.out_channels(at_).size());
  }
  Time now() const override { return now_; }
  RandomStream& random() override { return choice_.policies_.site(index()).random; }
  Time backlog(std::uint32_t p) override {
    const PortId port{p};
    const ChannelId c = channel(port);
    if (channels_.hot[c].flags & kScheduled) choice_.scheduled_.settle_until(c, now_);
    return Time::ps(settled_backlog_ps(c, port));
  }
  bool held(std::uint32_t p) override {
    const PortId port{p};
    const ChannelId c = channel(port);
    if (channels_.hot[c].flags & kDown) return true;
    if (!(channels_.hot[c].flags & kScheduled)) return false;
    choice_.scheduled_.settle_until(c, now_);
    return channels_.queues[at_]->held(port, now_);
  }
  std::uint32_t least_loaded(std::span<const std::uint32_t> ports) override {
    // Ports with the least load so far, up to what one draw is to decide among.
    constexpr std::size_t kMost = 256;
    std::array<std::uint32_t, kMost> best;
    std::size_t equals = 0;
    std::int64_t least_ps = INT64_MAX;
    for (const std::uint32_t port : ports) {
      const std::int64_t load_ps = this->load_ps(port);
      if (load_ps < least_ps) equals = 0;
      if (load_ps > least_ps || equals == kMost) continue;
      least_ps = load_ps;
      best[equals++] = port;
    }
    return equals == 1 ? best[0] : best[random().below(equals)];
  }
  bool all_up() const override { return !channels_.degraded; }
  bool is_up(std::uint32_t port) const override {
    return !(channels_.hot[channel(PortId(port))].flags & kDown);
  }
  bool to_host(std::uint32_t port) const override { return channels_.ends[channel(PortId(port))].is_host(); }
  Time packet_lifetime() const override { return channels_.packet_lifetime; }
  std::span<const std::uint32_t> minimal(std::uint32_t host) override {
    choice_.found_turn_ ^= 1;
    const auto room = [this]() -> std::vector<std::uint32_t>& { return choice_.found_[choice_.found_turn_]; };
    return choice_.ways_towards(at_, host, kNoSet, room).ports;
  }
  void set_timer(Time when, std::uint32_t cookie) override {
    SwitchPolicies& policies = choice_.policies_;
    const std::uint32_t sequence = policies.site(index()).timers++;
    choice_.wires_.engine.schedule_counted(when, policies.entity(index()), sequence, kPolicyTimer, cookie);
  }
  void pause(const routing::FlowRef& flow) override { tell_source(flow, PacketKind::kPause); }
  void resume(const routing::FlowRef& flow) override { tell_source(flow, PacketKind::kResume); }

 private:
  ChannelId channel(PortId port) const { return ChannelId(channels_.topology.out_channels(at_)[port]); }
  // REQUIRES: what a queue does is worked out until now.
  std::int64_t settled_backlog_ps(ChannelId c, PortId port) {
    const Channel& state = channels_.hot[c];
    std::int64_t waiting_ps = 0;
    if (state.flags & kScheduled) {
      waiting_ps = channels_.long_serialization_ps(c, state, channels_.queues[at_]->backlog_bytes(port));
    }
    return std::max<std::int64_t>(state.free_at_ps - now_.ps(), 0) + waiting_ps;
  }
  // The backlog of a port, or the most there is if it is held.
  std::int64_t load_ps(std::uint32_t p) {
    const PortId port{p};
    const ChannelId c = channel(port);
    const Channel& state = channels_.hot[c];
    if (state.flags & kDown) return INT64_MAX;
    if (state.flags & kScheduled) {
      choice_.scheduled_.settle_until(c, now_);
      if (channels_.queues[at_]->held(port, now_)) return INT64_MAX;
    }
    return settled_backlog_ps(c, port);
  }
  void tell_source(const routing::FlowRef& flow, PacketKind kind) {
    Wires& wires = choice_.wires_;
    const PacketHandle handle = wires.pool.acquire();
    Packet packet;
    packet.sent_ps = now_.ps();
    packet.flow = flow.receive_slot;
    packet.entropy =
        static_cast<std::uint32_t>(routing::flow_draws(wires.engine.seed(), flow.identity()).next());
    packet.destination = flow.sender;
    packet.source = flow.receiver;
    packet.flow_number = flow.number;
    packet.bytes = channels_.control_bytes;
    packet.kind = kind;
    wires.pool[handle] = packet;
    choice_.begin(handle);
    ++wires.counters.packets_injected;
    wires.counters.bytes_injected += packet.bytes;
    if (wires.observer != nullptr) wires.observer->on_inject(now_, wires.sighting(handle));
    choice_.forwarding_.send_from(at_, handle, channel(PortId(0)));
  }

  RouteChoice& choice_;
  Channels& channels_;
  const NodeId at_;
  const Time now_;
};

RouteChoice::RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding,
                         SwitchPolicies& policies)
    : wires_(wires),
      channels_(wires.channels),
      is_hashed_(!policies.any() && !policies.asks().acks_retrace && !policies.source_routes()),
      scheduled_(scheduled),
      forwarding_(forwarding),
      policies_(policies),
      trails_(wires.pool, wires.channels, policies),
      asks_(policies.asks()),
      asks_single_(asks_.single || (asks_.single_if_links_change && wires.channels.links_change)),
      foresees_(policies.any() || policies.source_routes()),
      asks_sure_(policies.any() && !policies.source_routes()),
      asks_ahead_(asks_sure_ && asks_.ahead),
      lists_ways_(policies.any() && !asks_.own_ports) {
  if (!policies_.any()) return;
  std::size_t most_ports = 0;
  for (std::uint32_t v = 0; v < channels_.topology.nodes(); ++v) {
    exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
    const auto out = channels_.topology.out_channels(v);
    for (const std::uint32_t c : out) exits_.push_back(c | (channels_.ends[c].is_host() ? kHostBit : 0));
    most_ports = std::max(most_ports, out.size());
  }
  exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
  numbers_.resize(most_ports);
  std::iota(numbers_.begin(), numbers_.end(), 0);
  if (asks_.notes) wires_.pool.notes().keep();
  if (asks_.departures || asks_.losses) wires_.listener = this;
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
  if (!policies_.any() || (packet.control() && !asks_.control)) return false;
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
  return ask(at, in, handle, kNoSet);
}

const RouteChoice::KnownSet& RouteChoice::learn_set(std::uint32_t set) {
  if (reroutes_ != channels_.reroutes) {
    reroutes_ = channels_.reroutes;
    sets_.clear();
  }
  if (set >= sets_.size()) sets_.resize(set + 1);
  KnownSet& known = sets_[set];
  if (known.first_port != KnownSet::kUnknown) return known;
  const routing::RoutingTable::Run run = channels_.table->run_of(set);
  known = {.first = run.first,
           .count = static_cast<std::uint16_t>(run.count),
           .stride = static_cast<std::uint16_t>(run.stride),
           .first_port = KnownSet::kIrregular};
  if (run.count == 0) return known;
  const std::uint32_t first = channels_.places[run.first].port;
  for (std::uint32_t i = 1; i < run.count; ++i) {
    if (channels_.places[known.channel(i)].port != first + i) return known;
  }
  if (first < KnownSet::kIrregular) known.first_port = static_cast<std::uint16_t>(first);
  return known;
}

[[gnu::noinline]] std::span<const std::uint32_t> RouteChoice::list_ports(NodeId at, std::uint32_t host,
                                                                         std::vector<std::uint32_t>& room) {
  room.clear();
  for (const std::uint32_t c : channels_.table->candidates(at, host)) {
    if (channels_.degraded && (channels_.hot[c].flags & kDown)) continue;
    room.push_back(channels_.places[c].port);
  }
  return room;
}

template <typename Room>
[[gnu::always_inline]] inline RouteChoice::Ways RouteChoice::ways_towards(NodeId at, std::uint32_t host,
                                                                          std::uint32_t set,
                                                                          const Room& room) {
  if (!channels_.degraded) [[likely]] {
    if (set == kNoSet) set = channels_.table->set_number(at, host);
    const KnownSet& known = known_set(set);
    if (known.first_port != KnownSet::kIrregular) [[likely]]
      return {{numbers_.data() + known.first_port, known.count}, known};
  }
  return {.ports = list_ports(at, host, room()), .set = {}};
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
    const std::uint32_t* const out = exits_.data() + exits_begin_[at];
    if (foreseen.sure && !trails_.retraced() && asks_sure_) {
      return ChannelId(out[foreseen.ports.front()] & ~kHostBit);
    }
    for (const std::uint32_t port : foreseen.ports.first(std::min(foreseen.ports.size(), kMost))) {
      __builtin_prefetch(&channels_.hot[out[port] & ~kHostBit], 1);
    }
    return kNoChannel;
  }
  if (set == kNoSet) return kNoChannel;
  const KnownSet& known = known_set(set);
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
  if (asks_.foresees && step.asked) (void)fetch(at, handle, kNoSet);
}

void RouteChoice::leave_traces(ChannelId in, PacketHandle handle, const Ahead& ahead) {
  if (trails_.retraced()) trails_.note_way(in, handle);
  if (ahead.follows_route) trails_.pass_named(handle);
  if (!ahead.asked) return;
  trails_.note_asked(handle);
  wires_.pool.notes().set(handle, ahead.note);
}

// What may be chosen from at a switch, before the policy is asked.
[[gnu::always_inline]] inline RouteChoice::Ways RouteChoice::ways_of(NodeId at, const Packet& packet,
                                                                     std::uint32_t set) {
  if (asks_.own_ports && !channels_.degraded) return {};
  return ways_towards(at, packet.destination, set, [this]() -> std::vector<std::uint32_t>& {
    if (asking_ == ports_.size()) ports_.emplace_back();
    return ports_[asking_];
  });
}

// The channel of a port that isn't known to be on a minimal way. Throws std::logic_error if there is none, or
// it leads to another host.
ChannelId RouteChoice::checked_channel(NodeId at, std::uint32_t port, std::uint32_t destination) const {
  const auto out = channels_.topology.out_channels(at);
  if (port >= out.size() || (channels_.ends[out[port]].is_host() &&
                             channels_.ends[out[port]].node() != channels_.topology.host(destination))) {
    throw std::logic_error("a routing policy chose a port that does not exist or leads to another host");
  }
  return ChannelId(out[port]);
}

[[gnu::always_inline]] inline routing::PacketView RouteChoice::view_of(ChannelId in,
                                                                       const Packet& packet) const {
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
          .in_port = in == kNoChannel ? routing::PacketView::kMadeHere : wires_.channels.end_ports[in],
          .number = packet.number,
          .acked_below = answers ? packet.cumulative() : 0,
          .sent = packet.data() || packet.ack() ? Time::ps(packet.sent_ps) : Time::max(),
          .control = packet.control(),
          .marked = packet.marked()};
}

// What the policy says of a packet. REQUIRES: is_asked().
[[gnu::always_inline]] inline RouteChoice::Answer RouteChoice::question(NodeId at, ChannelId in,
                                                                        const Packet& packet,
                                                                        routing::RouteNote& note,
                                                                        const Ways& ways) {
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
  if (ways.ports.size() == 1 && !asks_single_) {
    return {ChannelId(channels_.topology.out_channels(at)[ways.ports.front()])};
  }
  const routing::PacketView view = view_of(in, packet);
  Here here(*this, at, wires_.engine.now());
  ++asking_;
  const routing::Output output = policies_.policy_at(at).choose(view, note, ways.ports, here);
  --asking_;
  if (output.port == routing::Output::kNowhere) return {.asked = true};
  ChannelId channel = ways.channel(output.port);
  if (channel == kNoChannel) channel = channel_of(at, output.port, packet.destination);
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
  if (!is_asked(in, packet)) return foresees_ ? plain(at, packet) : kNoChannel;
  if (!asks_ahead_ || asks_.foresees) {
    const ChannelId c = fetch(at, handle, ahead.set);
    if (c != kNoChannel || !asks_ahead_) return c;
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
    const routing::PacketView view = view_of(in, wires_.pool[handle]);
    Here here(*this, at, wires_.engine.now());
    policies_.policy_at(at).retraced(view, step.port, here);
  }
  return step.channel;
}

void RouteChoice::timer(SwitchId at, std::uint32_t cookie) {
  const NodeId v = wires_.channels.node_of(at);
  Here here(*this, v, wires_.engine.now());
  policies_.policy_at(v).timer(cookie, here);
}

void RouteChoice::departs(ChannelId c, PacketHandle handle, std::int64_t departure_ps) {
  if (!asks_.departures || (wires_.pool[handle].control() && !asks_.control)) return;
  std::uint32_t record = static_cast<std::uint32_t>(departing_.size());
  if (unused_departing_.empty()) {
    departing_.emplace_back();
  } else {
    record = unused_departing_.back();
    unused_departing_.pop_back();
  }
  departing_[record] = {view_of(kNoChannel, wires_.pool[handle]), c};
  wires_.engine.insert({departure_ps, kDepartedSequence, wires_.first_entity + c, record, kDeparted, 0});
}

void RouteChoice::departed(std::uint32_t record) {
  const Departing leaving = departing_[record];
  unused_departing_.push_back(record);
  const PortPlace& place = wires_.channels.places[leaving.channel];
  Here here(*this, place.vertex, wires_.engine.now());
  policies_.policy_at(place.vertex).departed(leaving.view, place.port, here);
}

void RouteChoice::dropped(ChannelId c, PacketHandle handle) {
  const PortPlace& place = wires_.channels.places[c];
  if (!asks_.losses || wires_.channels.topology.node(place.vertex).kind == topologies::NodeKind::kHost)
    return;
  Here here(*this, place.vertex, wires_.engine.now());
  const routing::PacketView view = view_of(kNoChannel, wires_.pool[handle]);
  policies_.policy_at(place.vertex).dropped(view, place.port, here);
}

void RouteChoice::trimmed(ChannelId c, PacketHandle handle) {
  if (!asks_.losses) return;
  const PortPlace& place = wires_.channels.places[c];
  Here here(*this, place.vertex, wires_.engine.now());
  const routing::PacketView view = view_of(kNoChannel, wires_.pool[handle]);
  policies_.policy_at(place.vertex).trimmed(view, place.port, here);
}

routing::OwnSwitch& RouteChoice::view(SwitchId at, Time now) {
  quiet_view_ = std::make_unique<Here>(*this, wires_.channels.node_of(at), now);
  return *quiet_view_;
}

}  // namespace weft::sim::packet
