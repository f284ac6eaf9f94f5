// Path choice in the sending NIC: which NIC or plane, and which entropy, each packet takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "sim/core/random.h"
#include "sim/units/quantity.h"

namespace weft::topologies {
class Topology;
}

namespace weft::routing {

// A way that is named hop by hop: the port that the packet leaves through at each switch, from the one at the
// NIC's cable on; the last leads to the destination. See source_route.h.
struct SourceRoute {
  static constexpr std::size_t kMost = 15;
  std::array<std::uint16_t, kMost> ports{};  // positions in Topology::out_channels of the switch
  std::uint16_t length = 0;
  bool operator==(const SourceRoute&) const = default;
};

// Where a packet goes.
struct Path {
  static constexpr std::uint8_t kAnyNic = 0xFF;
  std::uint32_t entropy = 0;   // what switches hash: UDP port, flow label
  std::uint8_t nic = kAnyNic;  // which of the source's NICs; kAnyNic: the one that the network model chose
  // Null: switches choose. Else the selector's own, as long as that lives, and never changed; for policies
  // with Policy::source_routes. It tells the selector which way news are of.
  const SourceRoute* route = nullptr;
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

// What is fixed when a connection opens.
struct PathSetup {
  std::uint64_t connection = 0;               // its identity
  std::uint32_t source = 0, destination = 0;  // hosts
  sim::RandomStream random;                   // the connection's own
  // The network as it was built, for who names routes.
  const topologies::Topology* topology = nullptr;
  // A count for each of Policy::path_signals, shared with other connections: for the selector to count up.
  std::uint64_t* signals = nullptr;
};

// Makes the selector of one connection.
using PathSelectorMaker = std::function<std::unique_ptr<PathSelector>(const PathSetup& setup)>;

}  // namespace weft::routing
