#include "sim/packet/local_copies.h"

#include <algorithm>

#include "sim/units/long_times.h"

namespace weft::sim::packet {

void LocalCopies::start(const Message& message, std::uint32_t number) {
  std::uint32_t slot;
  if (unused_.empty()) {
    slot = static_cast<std::uint32_t>(copies_.size());
    copies_.emplace_back();
  } else {
    slot = unused_.back();
    unused_.pop_back();
  }
  copies_[slot] = {message, side_.engine.now(), number};
  const PacketConfig& config = side_.setup.config;
  std::int64_t& free_at = side_.hosts.copy_free_at_ps[message.source];
  free_at = after(std::max(Time::ps(free_at), side_.engine.now()),
                  serialization_to_end(config.local_bandwidth, message.bytes))
                .ps();
  side_.engine.schedule(Time::ps(free_at) + config.local_latency,
                        side_.hosts.nics[side_.hosts.first_nic[message.source]].entity, kLocalCopy, slot);
}

DeliveredMessage LocalCopies::finish(std::uint32_t slot) {
  const Copy& copy = copies_[slot];
  unused_.push_back(slot);
  const PacketConfig& config = side_.setup.config;
  return {
      .record = {.source = copy.message.source,
                 .destination = copy.message.destination,
                 .bytes = copy.message.bytes,
                 .start = copy.start,
                 .finish = side_.engine.now(),
                 .ideal = config.local_bandwidth.serialization(copy.message.bytes) + config.local_latency},
      .number = copy.number};
}

}  // namespace weft::sim::packet
