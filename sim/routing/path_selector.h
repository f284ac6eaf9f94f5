// Path choice in the sending NIC: which NIC or plane, and which entropy, each packet takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sim/core/random.h"
#include "sim/units/quantity.h"

namespace weft::routing {

// Where a packet goes.
struct Path {
  static constexpr std::uint8_t kAnyNic = 0xFF;
  std::uint32_t entropy = 0;   // what switches hash: UDP port, flow label
  std::uint8_t nic = kAnyNic;  // which of the source's NICs; kAnyNic: the one that the network model chose
};

// A packet that is about to be sent.
struct PathRequest {
  Time now;
  std::uint32_t number = 0;     // among its connection's packets
  std::uint32_t in_flight = 0;  // packets of the connection
  bool again = false;           // it was sent before
};

// What happened to a packet.
struct PathNews {
  Time now;
  Path path;  // that it had taken
  Time rtt;   // ACKs only
  bool ecn_marked = false;
};

// One connection's. Calls come in time order; what happens is told when it is known, and before the next
// packet asks for its path. A selector may see nothing else.
class PathSelector {
 public:
  virtual ~PathSelector() = default;
  virtual Path next(const PathRequest& request) = 0;
  // By default ignored. An ACK for several packets tells of the newest.
  virtual void on_ack(const PathNews& /*news*/) {}
  virtual void on_trim(const PathNews& news) { on_loss(news); }
  virtual void on_loss(const PathNews& /*news*/) {}
  // The retransmission timer expired; the losses that follow from it are told too.
  virtual void on_timeout(Time /*now*/) {}
};

// Makes the selector of one connection. The stream is the connection's own.
using PathSelectorMaker =
    std::function<std::unique_ptr<PathSelector>(std::uint64_t connection, sim::RandomStream random)>;

}  // namespace weft::routing
