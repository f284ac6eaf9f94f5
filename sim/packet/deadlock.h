// Finds packets that wait for each other in a circle, where a full buffer holds back the node before.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/packet/channels.h"

namespace weft::sim::packet {

// Looks at the network now and then, at moments when no partition runs. A lane of a channel is stuck if it
// may not send and every packet that fills the buffer it needs waits in a stuck lane itself (the greatest
// such set: W. J. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004,
// section 14.1). Only a set found twice, with nothing sent between, is a deadlock: at one look a frame may be
// under way that frees it.
class DeadlockWatch {
 public:
  explicit DeadlockWatch(const Channels& channels) : channels_(channels) {}

  // True if there is a deadlock at `now`; `next`: the next look, more than the longest cable latency away.
  bool look(Time now, Time next);
  // One circle of it, a line per channel: who waits for whom. REQUIRES: look() returned true.
  std::vector<std::string> describe() const;

 private:
  struct Stuck {
    ChannelId channel{0};
    std::uint32_t lane = 0;
    std::uint64_t packets = 0;  // that the channel has sent
    auto operator<=>(const Stuck&) const = default;
  };
  // The lanes of a sorted set that wait only for others of the set.
  std::vector<Stuck> without_way_out(std::vector<Stuck> stuck) const;
  // What the buffer at the end of a channel waits for.
  std::vector<Stuck> waits_for(const Stuck& lane) const;

  const Channels& channels_;
  Time now_, later_;          // of the last look and of the next
  std::vector<Stuck> stuck_;  // sorted; of the last look
};

}  // namespace weft::sim::packet
