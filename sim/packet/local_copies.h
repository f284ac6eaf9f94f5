// Messages within a host: copied in memory, one at a time, without the network.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/packet/hosts.h"

namespace weft::sim::packet {

// Makes the copies of one partition's hosts. A copy takes the message's bytes at
// PacketConfig::local_bandwidth, in its turn, and is there local_latency later.
class LocalCopies {
 public:
  explicit LocalCopies(HostSide& side) : side_(side) {}

  void start(const Message& message, std::uint32_t number);
  // The copy is there. Returns what the receiver has to record.
  DeliveredMessage finish(std::uint32_t slot);
  const Message& message(std::uint32_t slot) const { return copies_[slot].message; }

 private:
  struct Copy {
    Message message;
    Time start;
    std::uint32_t number = 0;
  };

  HostSide& side_;
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace weft::sim::packet
