// Finds networks that are busy and get nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/packet/wires.h"

namespace weft::sim::packet {

// Looks at the network at fixed intervals, at moments when no partition runs. It is a livelock if in two
// intervals on end not one packet with user bytes came to any host, while in the second one some link was
// busy for half of the time, with very many packets: packets are sent, cut or dropped, and sent again, and
// those that are answered leave no room for others. Waiting for a timeout is no livelock, for links rest
// then; nor is a slow link with few packets.
class LivelockWatch {
 public:
  // REQUIRES: the interval is longer than anything takes that comes to an end, some timeouts.
  LivelockWatch(const Channels& channels, Time interval)
      : channels_(channels), interval_(interval), next_(interval) {}

  Time next() const { return next_; }
  // At next(), with sums of all partitions. True if there is a livelock.
  bool look(const FabricCounters& counters);
  // Nothing happens from the last look until `now`: the looks before are left out.
  void rest_until(Time now);
  // What was found, in words. REQUIRES: look() returned true.
  std::vector<std::string> describe() const;

 private:
  struct Sent {
    std::uint64_t bytes = 0, packets = 0;
  };

  const Channels& channels_;
  const Time interval_;
  Time next_;
  std::uint64_t delivered_ = 0, injected_ = 0;
  std::vector<Sent> sent_;  // by channel, at the last look; empty unless nothing was delivered before it
  FabricCounters found_;
  std::uint32_t busiest_ = 0;
};

}  // namespace weft::sim::packet
