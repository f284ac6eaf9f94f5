// Path choice in the sending NIC: which NIC or plane, and which entropy, each packet takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sim/core/random.h"
#include "sim/routing/switch_policy.h"
#include "sim/units/quantity.h"

namespace weft::topologies {
class Topology;
}

namespace weft::routing {

// Where a packet goes.
struct Path {
  static constexpr std::uint8_t kAnyNic = 0xFF;
  std::uint32_t entropy = 0;   // what switches hash: UDP port, flow label
  std::uint8_t nic = kAnyNic;  // which of the source's NICs; kAnyNic: the one that the network model chose
  // `route` leads from that NIC to the destination for certain, so that nobody need look before each packet.
  bool route_checked = false;
  // Null: switches choose. Else the selector's own, as long as that lives, for policies with
  // Policy::source_routes. Copied when the packet is sent; afterwards the address tells the selector which
  // way news are of.
  const SourceRoute* route = nullptr;
};

// A packet that is about to be sent.
struct PathRequest {
  Time now;
  std::uint32_t number = 0;     // among its connection's packets
  std::uint32_t in_flight = 0;  // packets of the connection
  // Packets from the oldest that isn't acknowledged to the newest that was sent.
  std::uint32_t unacknowledged = 0;
  bool again = false;  // it was sent before
};

// A connection has something to send, and its congestion control allows it.
struct HoldQuestion {
  Time now;
  std::uint32_t unacknowledged = 0;  // as PathRequest's
  bool again = false;
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
  // Asked before next(), of policies with Policy::selectors_hold: until when the packet has to wait. Not
  // after now: it may go; Time::max(): until something is acknowledged or lost, when it is asked again.
  virtual Time held_until(const HoldQuestion& /*question*/) { return Time(); }
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
  Time packet_lifetime;  // see OwnSwitch::packet_lifetime()
  // A count for each of Policy::path_signals, shared with other connections: for the selector to count up.
  std::uint64_t* signals = nullptr;
};

// Makes the selector of one connection.
using PathSelectorMaker = std::function<std::unique_ptr<PathSelector>(const PathSetup& setup)>;

}  // namespace weft::routing
