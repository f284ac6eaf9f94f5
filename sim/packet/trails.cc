#include "sim/packet/trails.h"

#include <stdexcept>

namespace weft::sim::packet {

Trails::Trails(PacketPool& pool, const Channels& channels, const SwitchPolicies& policies)
    : pool_(pool), channels_(channels), beside_([&] {
        const routing::SwitchAsks& asks = policies.asks();
        return static_cast<std::uint8_t>((asks.acks_retrace ? kTrail : 0) |
                                         (policies.source_routes() ? kRoute : 0) | (asks.notes ? kNote : 0) |
                                         (asks.notes && asks.ahead ? kNoteAhead : 0) |
                                         (channels.stamps() ? kTelemetry : 0));
      }()) {
  if (beside_ & kTrail) pool_.trails().keep();
  if (beside_ & kRoute) pool_.routes().keep();
}

void Trails::refuse_route() {
  throw std::logic_error("a route ends before its destination, or names a port that does not exist");
}

// An ACK keeps the trail and the telemetry of the data packet whose place it takes.
void Trails::reset(PacketHandle handle) {
  const PacketKind kind = pool_[handle].kind;
  pool_.notes().set(handle, {});
  if (kind == PacketKind::kAck || kind == PacketKind::kNack) return;
  pool_.trails().set(handle, {});
  pool_.telemetry().clear(handle);
}

}  // namespace weft::sim::packet
