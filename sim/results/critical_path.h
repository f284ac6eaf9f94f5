// What the longest chain of work and messages of a job consists of, from its start to its end.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/units/quantity.h"

namespace weft::results {

// The parts add up to the time from the start of the job to the moment that the chain leads to.
struct CriticalPath {
  Time compute;   // calcs, and combining what was received
  Time overhead;  // cpu time for messages, and what processors of collectives' lanes take
  Time latency;   // of messages: what they would take alone on their path, but for their bytes
  // The bytes of messages take this at the NIC's rate, with those before them at their sender's NIC, or at
  // their receiver's if that is more.
  Time bandwidth;
  Time queueing;  // of messages: what they took longer than that, in the network
  Time matching;  // requests of large messages and the answers to them, on their way

  Time total() const { return compute + overhead + latency + bandwidth + queueing + matching; }
  CriticalPath& operator+=(const CriticalPath& other);
};

inline constexpr int kPathParts = 6;
// "compute", "overhead", "latency", "bandwidth", "queueing", "matching".
std::string_view path_part_name(int part);
Time path_part(const CriticalPath& path, int part);

// What a job is bound by: the part whose cure would shorten it most. Messages wait in queues because links
// lack bandwidth, so both count together, and the larger of the two is named; so do latency and matching.
// "nothing" where no time passed.
std::string_view bound_by(const CriticalPath& path);

}  // namespace weft::results
