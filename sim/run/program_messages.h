// What a job's messages will be, reckoned from some of its ranks before it is replayed: for forecasts of
// memory.
#pragma once

#include <cstdint>

#include "sim/replay/jobs.h"

namespace weft::sim {

// How a network divides messages; by default nothing is known of packets, and none are counted.
struct PacketRule {
  std::uint64_t mtu_bytes = 0;  // 0: there are no packets
  double window = 0;            // packets that a sender may have under way
};

// Messages under way at one time, of all ranks together.
struct UnderWay {
  double messages = 0;
  double packets = 0, late_packets = 0;  // of these: within a window, and sent later while one is missing
  // Pairs of ranks beside these that the same collective sends between, and packets of a message of each.
  double other_pairs = 0, packets_of_pairs = 0;
};

struct ProgramMessages {
  double messages = 0;      // in all runs of the job
  UnderWay at_start;        // sends that wait for nothing
  UnderWay in_collectives;  // at the most: what ranks send at once in the largest collective that each calls
};

// Some ranks stand for all, and in collectives some places and groups; of a packed file some ranks are read,
// the first million operations of each, and of what waits it is known only that each rank sends. Throws
// InputError as CollectiveSelection::choose().
ProgramMessages reckon_messages(const ReplayJob& job, const PacketRule& rule = {});

}  // namespace weft::sim
