#include "sim/routing/policies/flowcut_switch.h"

#include <algorithm>
#include <limits>

#include "sim/routing/parts/port_choice.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {

std::unique_ptr<SwitchPolicy> FlowcutPlan::make(std::uint32_t switch_index, sim::RandomStream) const {
  return std::make_unique<FlowcutSwitch>(*this, switch_index);
}

FlowcutSwitch::FlowcutSwitch(const FlowcutPlan& plan, std::uint32_t switch_index)
    : plan_(plan),
      settings_(plan.settings),
      vertex_(plan.topology.switch_at(switch_index)),
      salt_(switch_salt(plan.seed, switch_index)) {}

FlowRef FlowcutSwitch::flow_of(const Entry& entry) {
  return {.sender = static_cast<std::uint32_t>(entry.flow >> 32),
          .receiver = entry.receiver,
          .number = static_cast<std::uint32_t>(entry.flow),
          .receive_slot = entry.receive_slot};
}

Time FlowcutSwitch::idle(const OwnSwitch& here) const {
  return settings_.idle > Time() ? settings_.idle : here.packet_lifetime();
}

Output FlowcutSwitch::choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                             ActiveSwitch& here) {
  // What isn't data has no order to keep.
  if (packet.control) return {.port = minimal[hash_choice(packet.entropy, salt_, minimal.size())]};
  Entry& entry = entry_of(packet, here);
  if (!(entry.state & kOpen) || !goes_on(entry, packet, minimal, here)) begin(entry, packet, minimal, here);
  // A path that isn't minimal may lead back here: what comes again would be under way for ever.
  if ((entry.state & kCutOff) && packet.number < entry.end) return {.port = Output::kNowhere};
  note_forwarded(entry, packet, here);
  return {.port = entry.port, .route = plan_.whole_ways ? &routes_[entry.route] : nullptr};
}

FlowcutSwitch::Entry& FlowcutSwitch::entry_of(const PacketView& packet, const OwnSwitch& here) {
  const std::int64_t now = here.now().ps(), lifetime = idle(here).ps();
  const auto leave = [&](const Entry& entry) {
    const bool open = entry.state & kOpen;
    if (now - entry.last_ps <= (open ? kForgottenAfter * lifetime : lifetime)) return false;
    if (entry.route != kNoRoute) unused_routes_.push_back(entry.route);
    return true;
  };
  return table_.find_or_add(packet.flow.identity(), leave);
}

bool FlowcutSwitch::goes_on(Entry& entry, const PacketView& packet, std::span<const std::uint32_t> minimal,
                            ActiveSwitch& here) {
  if (is_usable(entry, packet.destination, minimal)) [[likely]] {
    if (entry.state & kCutOff) release(entry, here);  // its path is back
    return true;
  }
  if (here.now().ps() - entry.last_ps > idle(here).ps()) {
    expire(entry, here);
    return false;
  }
  if (!(entry.state & kCutOff)) cut_off(entry, here);
  return true;
}

bool FlowcutSwitch::is_usable(Entry& entry, std::uint32_t destination,
                              std::span<const std::uint32_t> minimal) {
  if (std::find(minimal.begin(), minimal.end(), entry.port) == minimal.end()) return false;
  if (!plan_.whole_ways) return true;
  if (entry.epoch != plan_.epoch()) {
    entry.epoch = plan_.epoch();
    entry.state &= static_cast<std::uint8_t>(~kBadRoute);
    if (!is_minimal(plan_.topology, plan_.table(), vertex_, destination, routes_[entry.route])) {
      entry.state |= kBadRoute;
    }
  }
  return !(entry.state & kBadRoute);
}

void FlowcutSwitch::begin(Entry& entry, const PacketView& packet, std::span<const std::uint32_t> minimal,
                          ActiveSwitch& here) {
  ++flowcuts_;
  entry.port = static_cast<std::uint16_t>(settings_.random_choice ? any_port(minimal, here)
                                                                  : least_loaded(minimal, here));
  entry.state = static_cast<std::uint8_t>(kOpen | (entry.state & kTimed));
  if (minimal.size() > 1) entry.state |= kChoice;
  if (packet.in_port != PacketView::kMadeHere && here.to_host(packet.in_port)) entry.state |= kAtSource;
  entry.end = 0;
  entry.bytes = 0;
  entry.mean = 0;
  entry.acked_ps = 0;
  entry.receiver = packet.flow.receiver;
  entry.receive_slot = packet.flow.receive_slot;
  if (plan_.whole_ways) draw_way(entry, packet, here);
  if (settings_.drain == FlowcutDrain::kQueue) {
    const std::uint32_t channel = plan_.topology.out_channels(vertex_)[entry.port];
    const Bandwidth rate = plan_.topology.channels()[channel].rate;
    entry.least = static_cast<float>(rate.serialization(settings_.max_queue * packet.bytes).ps());
  } else if (settings_.drain == FlowcutDrain::kRate) {
    entry.least = 0;
  }
}

// The rest of the way behind the port.
void FlowcutSwitch::draw_way(Entry& entry, const PacketView& packet, OwnSwitch& here) {
  if (entry.route == kNoRoute) {
    if (unused_routes_.empty()) {
      entry.route = static_cast<std::uint32_t>(routes_.size());
      routes_.emplace_back();
    } else {
      entry.route = unused_routes_.back();
      unused_routes_.pop_back();
    }
  }
  DrawnRoute drawn;
  drawn.route.ports[drawn.route.length++] = entry.port;
  const std::uint32_t channel = plan_.topology.out_channels(vertex_)[entry.port];
  draw_route(plan_.topology, plan_.table(), plan_.topology.channels()[channel].to, packet.destination,
             here.random(), drawn);
  if (!drawn.only) entry.state |= kChoice;
  routes_[entry.route] = drawn.route;
  entry.epoch = plan_.epoch();
}

void FlowcutSwitch::note_forwarded(Entry& entry, const PacketView& packet, ActiveSwitch& here) {
  const std::int64_t now = here.now().ps();
  if (settings_.drain != FlowcutDrain::kNone) watch_data(entry, packet, here);
  if (packet.number >= entry.end) entry.end = packet.number + 1;
  entry.last_ps = now;
}

void FlowcutSwitch::watch_data(Entry& entry, const PacketView& packet, ActiveSwitch& here) {
  const std::int64_t now = here.now().ps();
  entry.bytes += std::min(packet.bytes, std::numeric_limits<std::uint32_t>::max() - entry.bytes);
  if ((entry.state & kPaused) && now - entry.paused_ps > idle(here).ps()) {
    // The pause is over by itself: packets were lost, or are on their way for very long.
    entry.state &= static_cast<std::uint8_t>(~kPaused);
    ++abandoned_;
  }
  if (!(entry.state & kChoice) || is_stopped(entry)) return;
  switch (settings_.drain) {
    case FlowcutDrain::kBytes:
      if ((entry.state & kAtSource) && entry.bytes > settings_.max_bytes) drain(entry, here);
      break;
    case FlowcutDrain::kQueue:
      if (static_cast<float>(here.backlog(entry.port).ps()) > entry.least) drain(entry, here);
      break;
    case FlowcutDrain::kRate:
      if (entry.end > 0) {
        const auto between = static_cast<float>(now - entry.last_ps);
        entry.least =
            entry.least == 0 ? between : entry.least + settings_.rate_gain * (between - entry.least);
      }
      break;
    default:
      break;
  }
}

void FlowcutSwitch::retraced(const PacketView& packet, std::uint32_t, ActiveSwitch& here) {
  Entry* const entry = table_.find(packet.flow.identity());
  if (entry == nullptr || !(entry->state & kOpen)) return;
  if (packet.sent < Time::max() && (entry->state & kAtSource)) watch_ack(*entry, packet, here);
  if (packet.acked_below >= entry->end) {
    entry->state &= static_cast<std::uint8_t>(~kOpen);
    release(*entry, here);
  } else if ((entry->state & (kPaused | kCutOff)) == kPaused && packet.number + 1 == entry->end) {
    // The last one is there, and one before it isn't: it is lost, and its source has to send it again.
    ++abandoned_;
    release(*entry, here);
  }
}

void FlowcutSwitch::watch_ack(Entry& entry, const PacketView& packet, ActiveSwitch& here) {
  const FlowcutDrain by = settings_.drain;
  bool due = false;
  if (by == FlowcutDrain::kRtt || by == FlowcutDrain::kRttGradient) {
    const auto rtt = static_cast<float>((here.now() - packet.sent).ps());
    const float before = entry.mean;
    entry.least = entry.least == 0 ? rtt : std::min(entry.least, rtt);
    entry.mean = before == 0 ? rtt : before + settings_.gain * (rtt - before);
    if (by == FlowcutDrain::kRtt) {
      due = entry.mean > settings_.max_ratio * entry.least && entry.bytes >= settings_.from_bytes;
    } else {
      due = before > 0 && (rtt > settings_.max_gradient * before || rtt * settings_.max_gradient < before);
    }
  } else if (by == FlowcutDrain::kRate) {
    const std::int64_t now = here.now().ps();
    if (entry.acked_ps > 0) {
      const auto between = static_cast<float>(now - entry.acked_ps);
      entry.mean = entry.mean == 0 ? between : entry.mean + settings_.rate_gain * (between - entry.mean);
      due = entry.least > 0 && entry.mean > settings_.max_rate_ratio * entry.least;
    }
    entry.acked_ps = now;
  }
  if (due && (entry.state & kChoice) && !is_stopped(entry) && packet.acked_below < entry.end) {
    drain(entry, here);
  }
}

void FlowcutSwitch::drain(Entry& entry, ActiveSwitch& here) {
  ++drains_;
  entry.state |= kPaused;
  entry.paused_ps = here.now().ps();
  here.pause(flow_of(entry));
}

// Its path is gone. Until no packet is under way any more, new ones are sent after the others, where they may
// be lost, and their source should send no more.
void FlowcutSwitch::cut_off(Entry& entry, ActiveSwitch& here) {
  ++cut_off_;
  entry.state |= kCutOff;
  here.pause(flow_of(entry));
  if (entry.state & kTimed) return;
  entry.state |= kTimed;
  std::uint32_t cookie = static_cast<std::uint32_t>(timed_.size());
  if (unused_cookies_.empty()) {
    timed_.push_back(entry.flow);
  } else {
    cookie = unused_cookies_.back();
    unused_cookies_.pop_back();
    timed_[cookie] = entry.flow;
  }
  here.set_timer(here.now() + Time::ps(idle(here).ps() / 2), cookie);
}

void FlowcutSwitch::timer(std::uint32_t cookie, ActiveSwitch& here) {
  Entry* const entry = table_.find(timed_[cookie]);
  if (entry != nullptr && (entry->state & kOpen) && (entry->state & kCutOff)) {
    const std::int64_t left = entry->last_ps + idle(here).ps() + 1 - here.now().ps();
    if (left > 0) {
      here.pause(flow_of(*entry));  // else it would end by itself
      here.set_timer(here.now() + Time::ps(std::min(left, idle(here).ps() / 2 + 1)), cookie);
      return;
    }
    expire(*entry, here);
  }
  if (entry != nullptr) entry->state &= static_cast<std::uint8_t>(~kTimed);
  unused_cookies_.push_back(cookie);
}

void FlowcutSwitch::expire(Entry& entry, ActiveSwitch& here) {
  ++expired_;
  entry.state &= static_cast<std::uint8_t>(~kOpen);
  release(entry, here);
}

void FlowcutSwitch::release(Entry& entry, ActiveSwitch& here) {
  if (!is_stopped(entry)) return;
  entry.state &= static_cast<std::uint8_t>(~(kPaused | kCutOff));
  here.resume(flow_of(entry));
}

Signals FlowcutSwitch::signals() const {
  return {{"flowcut", flowcuts_},
          {"drain", drains_},
          {"abandoned_drain", abandoned_},
          {"cut_off_flowcut", cut_off_},
          {"expired_flowcut", expired_}};
}

}  // namespace weft::routing
