// The seam between ranks and NICs: which NICs the messages between two ranks take, where hosts have several.
#pragma once

#include <cstdint>

namespace weft::sim {

// A rank's host, and which one it is among so many ranks of its program there.
struct RankPlace {
  std::uint32_t host = 0, number = 0, ranks = 1;
};

// Of the sender's host, and of the receiver's.
struct NicPair {
  std::uint8_t source = 0, destination = 0;
};

// Asked by the threads of all partitions.
class NicRule {
 public:
  virtual ~NicRule() = default;
  virtual NicPair nics(const RankPlace& from, const RankPlace& to) const = 0;
};

}  // namespace weft::sim
