// A switch's table of flowlets: packets of a flow that follow each other closely.
#pragma once

#include <cstdint>

#include "sim/routing/policies/flow_table.h"
#include "sim/routing/switch_policy.h"

namespace weft::routing {

// By flow; its ACKs that come by are another flow.
class FlowletTable {
 public:
  static constexpr std::uint32_t kNoPort = UINT32_MAX;

  struct Entry {
    std::uint64_t flow = UINT64_MAX;
    Time last;
    std::uint32_t port = kNoPort;
  };

  // Entries of flows that had no packet for `gap` need not be kept.
  Entry& of(const PacketView& packet, Time now, Time gap) {
    return entries_.find_or_add(key_of(packet.flow.identity(), packet.control),
                                [now, gap](const Entry& entry) { return now - entry.last > gap; });
  }
  void prefetch(const Coming& packet) const { entries_.prefetch(key_of(packet.flow, packet.control)); }

 private:
  static std::uint64_t key_of(std::uint64_t flow, bool control) { return flow * 2 + (control ? 1 : 0); }

  FlowTable<Entry> entries_;
};

}  // namespace weft::routing
