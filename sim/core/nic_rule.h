// The seam between ranks and NICs: which NICs the messages between two ranks take, where hosts have several.
#pragma once

#include <cstdint>

namespace weft::sim {

// A rank's host, and which one it is among so many ranks of its program there.
struct RankPlace {
  std::uint32_t host = 0, number = 0, ranks = 1;
};

// Names a NIC of the sender's host, and one of the receiver's.
struct NicPair {
  std::uint8_t source = 0, destination = 0;
  std::uint16_t own = 1;  // so many NICs the sending rank has of its own, as good as this one
};

// What a library makes of the NICs that a rank has of its own, where there are several.
struct RailUse {
  std::uint32_t most = 1;             // a message is divided over so many at most …
  std::uint64_t least_bytes = 16384;  // … in pieces of so many bytes at least
  bool by_channel = false;            // channels of NCCL's collectives take them in turn, and divide nothing
};

// Asked by the threads of all partitions.
class NicRule {
 public:
  virtual ~NicRule() = default;
  // The rail-th pair of them, modulo those that the sender has of its own.
  virtual NicPair nics(const RankPlace& from, const RankPlace& to, std::uint32_t rail) const = 0;
  // Tells how many NICs the host with the most of them has.
  virtual std::uint32_t most_nics() const = 0;
};

}  // namespace weft::sim
