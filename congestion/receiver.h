// The seam for the receiver's part of congestion control: when ACKs, congestion notifications and credits
// leave. Pure state machines, driven by calls, without any simulator type.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/units/module.h"
#include "sim/units/quantity.h"
#include "sim/units/signals.h"

namespace weft::congestion {

// A connection that ends at the receiver's NIC: its sending host, and its number among that host's.
using ConnectionId = std::uint64_t;

// What a receiver knows of its NIC.
struct ReceiverInfo {
  Bandwidth line_rate;
  std::uint32_t mtu_bytes = 0;     // payload of a full packet
  std::uint32_t header_bytes = 0;  // added to it on the wire
  Time longest_rtt;                // of the network, without queueing
  std::uint32_t random = 0;        // the NIC's own draw
};

// A data packet that was missing, or the header of one, that has just come; where recovery adds redundant
// ones, one of a message that isn't complete. Packets that come twice aren't told of.
struct Arrival {
  Time now;
  ConnectionId connection = 0;
  std::uint32_t source = 0;         // host
  std::uint64_t payload_bytes = 0;  // 0 if it was trimmed
  bool ecn_marked = false;
  bool trimmed = false;
  bool at_last_hop = false;         // … at the receiver's own link
  bool completes = false;           // with it, a message is complete
  std::uint64_t wanted_credit = 0;  // Sender::wanted_credit(), where credits are heard
};

// What a receiver may do, at any time it is called. Packets leave through its NIC, each with the size of an
// ACK, and take their place in its queue. Nothing happens for a connection that is over: from its last
// message's completion on where each message has its own, else when nothing has come for as long as makes it
// start anew.
class ReceiverActions {
 public:
  virtual ~ReceiverActions() = default;
  virtual Time now() const = 0;
  // An ACK of all that has come and was not acknowledged yet. Does nothing if there is no such packet.
  virtual void acknowledge(ConnectionId connection) = 0;
  // A congestion notification packet (Sender::on_notification).
  virtual void notify(ConnectionId connection) = 0;
  // Allows the connection so many payload bytes more. The packet tells the sum of all (Sender::on_credit), so
  // that one that is lost is made good by the next.
  virtual void grant(ConnectionId connection, std::uint64_t bytes) = 0;
  // What was granted so in all; 0 where nothing would happen.
  virtual std::uint64_t granted(ConnectionId /*connection*/) const { return 0; }
  // Receiver::on_timer is to be called then. One timer: a new one takes the place of the last. Time::max():
  // none.
  virtual void set_timer(Time at) = 0;
};

enum class AckTime : std::uint8_t {
  kByRule,  // as the NIC does (ack_every, ack_delay); a NACK for what was trimmed
  kNow,
  kLater,  // not before acknowledge() is called, or something else makes it leave; no NACK for what was
           // trimmed
};

// One object for each NIC: what ends there shares it, so it can pace across senders. Calls come in time
// order.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // `word` is kept for the receiver beside the connection, 0 at first. Receivers aren't told when a
  // connection is over, as real ones aren't: what they remember of it is to be given up when it has been
  // served.
  virtual AckTime on_data(const Arrival& arrival, std::uint32_t& word, ReceiverActions& actions) = 0;
  virtual void on_timer(ReceiverActions&) {}
  // What it has counted, in a fixed order; summed over all NICs.
  virtual Signals signals() const { return {}; }
};

// Makes receivers with one choice of parameters.
class ReceiverFactory {
 public:
  virtual ~ReceiverFactory() = default;
  virtual std::unique_ptr<Receiver> make(const ReceiverInfo& nic) const = 0;
};

// For a receiver class with a nested `Settings` made from Parameters (it throws InputError for values that
// make no sense) and a constructor (const ReceiverInfo&, const Settings&).
template <typename ConcreteReceiver>
class ReceiverFactoryFor final : public ReceiverFactory {
 public:
  static std::unique_ptr<ReceiverFactory> make_factory(const Parameters& parameters) {
    return std::make_unique<ReceiverFactoryFor>(parameters);
  }
  explicit ReceiverFactoryFor(const Parameters& parameters) : settings_(parameters) {}
  std::unique_ptr<Receiver> make(const ReceiverInfo& nic) const override {
    return std::make_unique<ConcreteReceiver>(nic, settings_);
  }

 private:
  typename ConcreteReceiver::Settings settings_;
};

}  // namespace weft::congestion
