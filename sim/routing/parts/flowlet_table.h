// A switch's table of flowlets: packets of a flow that follow each other closely.
#pragma once

#include <cstdint>

#include "sim/routing/parts/flow_table.h"
#include "sim/routing/switch_policy.h"

namespace weft::routing {

// By flow; a flow's data and its ACKs are two. As large as it has to be: flows don't share an entry.
class FlowletTable {
 public:
  static constexpr std::uint32_t kNoPort = UINT32_MAX;

  struct Entry {
    std::uint64_t flow = UINT64_MAX;
    Time last;
    std::uint32_t port = kNoPort;
  };

  explicit FlowletTable(Time gap) : gap_(gap) {}
  // Good until the next call.
  Entry& of(const PacketView& packet, Time now) {
    return entries_.find_or_add(key(packet.flow.identity(), packet.control),
                                [this, now](const Entry& entry) { return is_over(entry, now); });
  }
  bool is_over(const Entry& entry, Time now) const { return now - entry.last > gap_; }
  void prefetch(const Coming& packet) const { entries_.prefetch(key(packet.flow, packet.control)); }

 private:
  static std::uint64_t key(std::uint64_t flow, bool control) { return flow * 2 + (control ? 1 : 0); }

  const Time gap_;
  FlowTable<Entry> entries_;
};

}  // namespace weft::routing
