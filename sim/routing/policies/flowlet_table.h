// A switch's table of flowlets: packets of a flow that follow each other closely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/routing/switch_policy.h"

namespace weft::routing {

// A table as in switches: flows that fall on one entry share it. A flow's data and its ACKs are two.
class FlowletTable {
 public:
  static constexpr std::uint32_t kNoPort = UINT32_MAX;

  struct Entry {
    Time last;
    std::uint32_t port = kNoPort;
  };

  FlowletTable() : entries_(kEntries) {}
  Entry& of(const PacketView& packet) {
    const std::uint64_t key = packet.flow.identity() * 2 + (packet.control ? 1 : 0);
    return entries_[key * 0x9E3779B97F4A7C15ULL >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 12;
  static constexpr std::size_t kEntries = 1 << kBits;

  std::vector<Entry> entries_;
};

}  // namespace weft::routing
