#include "sim/packet/policy_news.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kDepartedSequence = UINT32_MAX - 1;

}  // namespace

PolicyNews::PolicyNews(ViewedSwitches& switches)
    : switches_(switches), channels_(switches.wires.channels), asks_(switches.policies.asks()) {
  if (switches.policies.any() && (asks_.departures || asks_.losses)) switches.wires.listener = this;
}

void PolicyNews::timer(SwitchId at, std::uint32_t cookie) {
  const NodeId v = channels_.node_of(at);
  PolicyView view = here(v);
  policy_at(v).timer(cookie, view);
}

void PolicyNews::departs(ChannelId c, PacketHandle handle, std::int64_t departure_ps) {
  Wires& wires = switches_.wires;
  if (!asks_.departures || (wires.pool[handle].control() && !asks_.control)) return;
  std::uint32_t record = static_cast<std::uint32_t>(departing_.size());
  if (unused_departing_.empty()) {
    departing_.emplace_back();
  } else {
    record = unused_departing_.back();
    unused_departing_.pop_back();
  }
  departing_[record] = {view_of_leaving(handle), c};
  wires.engine.insert({departure_ps, kDepartedSequence, wires.first_entity + c, record, kDeparted, 0});
}

void PolicyNews::departed(std::uint32_t record) {
  const Departing leaving = departing_[record];
  unused_departing_.push_back(record);
  const PortPlace& place = channels_.places[leaving.channel];
  PolicyView view = here(place.vertex);
  policy_at(place.vertex).departed(leaving.view, place.port, view);
}

void PolicyNews::dropped(ChannelId c, PacketHandle handle) {
  const PortPlace& place = channels_.places[c];
  if (!asks_.losses || channels_.topology.node(place.vertex).kind == topologies::NodeKind::kHost) return;
  PolicyView view = here(place.vertex);
  policy_at(place.vertex).dropped(view_of_leaving(handle), place.port, view);
}

void PolicyNews::trimmed(ChannelId c, PacketHandle handle) {
  if (!asks_.losses) return;
  const PortPlace& place = channels_.places[c];
  PolicyView view = here(place.vertex);
  policy_at(place.vertex).trimmed(view_of_leaving(handle), place.port, view);
}

// Not told through which port it came.
routing::PacketView PolicyNews::view_of_leaving(PacketHandle handle) const {
  return view_of(channels_, kNoChannel, switches_.wires.pool[handle]);
}

routing::OwnSwitch& PolicyNews::view(SwitchId at, Time now) {
  return quiet_view_.emplace(switches_, channels_.node_of(at), now);
}

}  // namespace weft::sim::packet
