// One message, as results know it.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::results {

// One message as the network saw it (a row of flows.csv).
struct Flow {
  std::uint32_t source = 0, destination = 0;  // hosts
  std::uint64_t bytes = 0;                    // user bytes
  Time start, finish;                         // injected; last byte in the receiver's NIC
  Time ideal;                                 // what finish - start would be alone on its path; 0: not known
  std::uint32_t packets = 0;  // data packets sent, retransmissions included; 0: no packet model
  std::uint32_t retransmissions = 0;
  std::uint32_t ecn_marked = 0;  // data packets that arrived marked
  // Data packets that came after a later one, and by how many packets at most.
  std::uint32_t out_of_order = 0, reorder_distance = 0;
};

}  // namespace weft::results
