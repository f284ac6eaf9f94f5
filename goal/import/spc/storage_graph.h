// Block I/O as messages between hosts and storage servers. README.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <span>

#include "goal/graph/graph.h"
#include "goal/import/spc/trace.h"
#include "sim/units/quantity.h"

namespace weft::goal {

struct StorageSystem {
  std::uint32_t hosts = 0;  // 0: one for each storage unit (ASU) of the trace
  std::uint32_t servers = 8;
  std::uint32_t block = 512;                  // bytes of what LBAs count
  std::uint64_t stripe = 1u << 20;            // bytes of a unit that lie on one server, then comes the next
  std::uint64_t command = 64;                 // bytes of a request beside the data
  std::uint64_t completion = 16;              // and of an answer
  Bandwidth read_rate = Bandwidth::gbps(48);  // of a server's device
  Bandwidth write_rate = Bandwidth::gbps(12);
  Time access;               // of the device, for each request
  bool closed_loop = false;  // each I/O waits for its host's last one, instead of its time
};

struct StorageGraph {
  Graph graph;
  std::uint32_t hosts = 0;     // ranks 0 to hosts - 1; then come the servers
  std::uint64_t requests = 0;  // parts of I/Os, each on one server
  std::uint64_t read_bytes = 0, write_bytes = 0;
};

// REQUIRES: `ios` by start; servers, block, stripe, the rates and all bytes of I/Os above 0.
// Throws InputError for more requests than a graph can tell apart, NotEnoughMemory before it is taken.
StorageGraph storage_graph(std::span<const SpcIo> ios, const StorageSystem& system);

}  // namespace weft::goal
