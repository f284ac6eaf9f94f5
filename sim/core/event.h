// The record that the engine sorts and executes.
#pragma once

#include <cstdint>

namespace weft::sim {

// Anything that schedules events (a rank, a NIC, a link …) is an entity, numbered over the whole simulation
// independently of how it is partitioned. Each counts the events it schedules.
using EntityId = std::uint32_t;

// 24 bytes. The total order (time, source, sequence) is unique and does not depend on the number of
// partitions or threads: equal times are decided by who scheduled the event, then by who did so first.
struct Event {
  std::int64_t time_ps = 0;
  std::uint32_t sequence = 0;  // low half of the tie-break key (little-endian: see key())
  EntityId source = 0;
  std::uint32_t payload = 0;  // meaning depends on kind: a packet, a message, an operation …
  std::uint16_t kind = 0;     // below kClientKinds: the network's own; from there on: its client's
  std::uint16_t detail = 0;   // meaning depends on kind

  std::uint64_t key() const { return static_cast<std::uint64_t>(source) << 32 | sequence; }
  bool before(const Event& other) const {
    return time_ps != other.time_ps ? time_ps < other.time_ps : key() < other.key();
  }
};
static_assert(sizeof(Event) == 24);

// Event kinds from here on belong to the network's client (the replay).
inline constexpr std::uint16_t kClientKinds = 0x100;

}  // namespace weft::sim
