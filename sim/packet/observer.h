// Sees every packet at every queue and link end: for checkers in tests and for logs. Costs nothing when
// unset.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::sim::packet {

// What is said of a packet. `handle` names it while it lives; handles are used again.
struct Sighting {
  std::uint32_t handle = 0, flow = 0, number = 0;
  std::uint32_t bytes = 0;  // on the wire
  bool ack = false, marked = false, trimmed = false;
  bool returned = false;  // a header on its way back to the sender
  // Hosts it travels between; ACKs and returned headers the other way than the data.
  std::uint32_t source = 0, destination = 0;
  std::uint32_t flow_number = 0;  // among the flows of the data's source, from 0
  std::uint32_t entropy = 0;      // what switches hash
};

// Called at Engine::now(), in event order. Channel numbers are those of topologies::Topology.
class Observer {
 public:
  virtual ~Observer() = default;
  // It entered the network at a host; next it enters the queue of a NIC.
  virtual void on_inject(Time now, const Sighting& packet) = 0;
  // It joined the queue of a channel and will have left it, to the last bit, at `departure`; Time::max()
  // where that is not known yet, and on_transmit(), on_drop() or on_trim() is to follow.
  virtual void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) = 0;
  // It goes on the wire now, after it has waited in a queue that is not simply FIFO.
  virtual void on_transmit(Time /*now*/, std::uint32_t /*channel*/, const Sighting& /*packet*/,
                           Time /*departure*/) {}
  // Its payload was cut off; `packet` says what is left.
  virtual void on_trim(Time /*now*/, std::uint32_t /*channel*/, const Sighting& /*packet*/) {}
  virtual void on_drop(Time now, std::uint32_t channel, const Sighting& packet) = 0;
  // It came out of the far end of a channel (and through the switch's pipeline, if a switch is there).
  virtual void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) = 0;
  // It reached its host and left the network.
  virtual void on_deliver(Time now, const Sighting& packet) = 0;
};

}  // namespace weft::sim::packet
