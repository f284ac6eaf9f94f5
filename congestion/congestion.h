// The seam for congestion control at the sender: pure state machines, driven by calls, without any simulator
// type. The receiver's side is in receiver.h, loss recovery in recovery.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "congestion/receiver.h"
#include "congestion/telemetry.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

// What is fixed when a connection opens.
struct FlowInfo {
  std::uint32_t mtu_bytes = 0;  // payload of a full packet
  Bandwidth line_rate;          // of the sender's NIC, or of all that it may use
  Time base_rtt;                // round trip of a full packet and its ACK without queueing
  Time longest_rtt;             // the same over the longest path that the routing policy may use
  Time network_rtt;             // the longest of the network, for whom one target is to suit all
  Time host_delay;              // of each of these, what passes in the two hosts
  Time answer_wait;  // what the ACK waits for if each link on its way is just sending a full packet
  // Bandwidth-delay product of the path in bytes, which keeps it full in both directions at once:
  // line_rate × (base_rtt + answer_wait).
  std::uint64_t bdp_bytes = 0;
  std::uint32_t hops = 0;  // links of the path
  // A count for each of Control::signals, shared with other connections: for the sender to count up.
  std::uint64_t* signals = nullptr;
  std::uint32_t random = 0;  // the connection's own draw, for what connections should not do in step
};

// What a sender may do now.
struct Allowance {
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // At most so many payload bytes in flight. One packet always, unless it is 0: then not one.
  std::uint64_t window_bytes = 0;
  Bandwidth rate;  // packets are spaced at this; 0 bps: they aren't
  // All payload bytes ever sent on the connection, those sent again included, may be no more than this: what
  // was granted where receivers pace. The packet that reaches it may pass it.
  std::uint64_t credit_bytes = kNoLimit;
};

struct Ack {
  Time now;
  Time rtt;                     // of the packet acknowledged, from its first bit sent to the ACK's effect
  Time host_delay;              // of it, what passed in the two hosts: rtt - host_delay is the network's
  std::uint64_t bytes = 0;      // payload newly acknowledged by it
  std::uint64_t in_flight = 0;  // payload bytes still unacknowledged, after this one
  bool ecn_marked = false;
  // Links that the packet crossed; of one way of minimal length, where there is no telemetry.
  std::uint32_t hops = 0;
  // Each switch that the packet passed has an entry, in their order; empty unless asked for (Control::needs).
  // An ACK for several packets has the newest one's. Good until the call returns.
  std::span<const HopTelemetry> telemetry;
};

// Payload that will have to be sent again.
struct Loss {
  Time now;
  std::uint64_t bytes = 0;
  std::uint64_t in_flight = 0;  // payload bytes still unacknowledged and not lost, after this
  bool at_last_hop = false;     // cut off at the receiver's own link, where others can't help
  bool returned = false;        // … and sent back, so the receiver doesn't know of it
  // The entropies of the packets' paths, one for each; empty unless asked for.
  std::span<const std::uint32_t> paths;
};

// A packet that was just handed to the NIC.
struct Sent {
  Time at;  // its first bit leaves then
  std::uint64_t bytes = 0;
  bool again = false;  // it was sent before
};

// One connection's sender. Calls come in time order. After each, `allowed()` is what may be sent from then
// on, and `wake_at()` when on_timer is to be called, if that is heard. Calls that the control doesn't hear
// (Control::hears) don't come.
class Sender {
 public:
  virtual ~Sender() = default;
  const Allowance& allowed() const { return allowed_; }
  Time wake_at() const { return wake_at_; }
  // Payload bytes, counted as Allowance::credit_bytes, that the connection would like to have been allowed in
  // all: told to the receiver with every packet, where credits are heard.
  std::uint64_t wanted_credit() const { return wanted_credit_; }

  // Before the first packet.
  virtual void start(Time now) = 0;
  virtual void on_ack(const Ack& ack) = 0;
  // Found by later packets' ACKs, or after their reordering window.
  virtual void on_loss(const Loss& loss) = 0;
  // Cut off by a switch whose queue was full, of which the sender was told at once: a NACK, or the header
  // that came back. As a loss, unless a control knows better.
  virtual void on_trim(const Loss& loss) { on_loss(loss); }
  // The retransmission timer expired with nothing heard, and this is given up.
  virtual void on_timeout(const Loss& loss) = 0;
  // A message begins after nothing was in flight for `idle`, which is less than what makes the connection
  // start anew.
  virtual void on_idle(Time /*now*/, Time /*idle*/) {}

  // kMessages: a message of so many bytes, redundant ones included, was added to what is to be sent;
  // `backlog`: all that was not sent yet.
  virtual void on_message(Time /*now*/, std::uint64_t /*bytes*/, std::uint64_t /*backlog*/) {}
  // kMessages: so many of these never will be sent, as the receiver has rebuilt what they are for.
  virtual void on_spared(std::uint64_t /*bytes*/) {}
  // kSends.
  virtual void on_send(const Sent& /*sent*/) {}
  // kNotifications: the receiver has sent a congestion notification packet.
  virtual void on_notification(Time /*now*/) {}
  // kCredits: the receiver allows so many payload bytes in all, counted as Allowance::credit_bytes.
  virtual void on_credit(Time /*now*/, std::uint64_t /*total_bytes*/) {}
  // kTimer: wake_at() is reached.
  virtual void on_timer(Time /*now*/) {}

 protected:
  Allowance allowed_;
  Time wake_at_ = Time::max();
  std::uint64_t wanted_credit_ = 0;
};

// What a control hears of beyond ACKs, losses and timeouts; each costs something, so it comes to who asks
// only.
enum Hears : std::uint32_t {
  kMessages = 1,
  kSends = 2,
  kNotifications = 4,
  kCredits = 8,
  kLossPaths = 16,  // Loss::paths
  kTimer = 32,
};

// Makes senders with one choice of parameters. Senders live in slabs of the caller's: `sender_bytes` is the
// size of one, `construct` places one at `storage` (aligned to 16 bytes; destroyed through ~Sender).
class SenderFactory {
 public:
  virtual ~SenderFactory() = default;
  virtual std::size_t sender_bytes() const = 0;
  virtual Sender* construct(void* storage, const FlowInfo& flow) const = 0;
  // By how much the control makes the header of every packet longer, ACKs included: what telemetry takes,
  // say.
  virtual std::uint32_t header_bytes() const { return 0; }
};

// For a sender class with a nested `Settings` made from Parameters (it throws InputError for values no sender
// can work with) and a constructor (const FlowInfo&, const Settings&). Settings may have `header_bytes`.
template <typename ConcreteSender>
class SenderFactoryFor final : public SenderFactory {
 public:
  static std::unique_ptr<SenderFactory> make(const Parameters& parameters) {
    return std::make_unique<SenderFactoryFor>(parameters);
  }
  explicit SenderFactoryFor(const Parameters& parameters) : settings_(parameters) {}
  std::size_t sender_bytes() const override { return sizeof(ConcreteSender); }
  Sender* construct(void* storage, const FlowInfo& flow) const override {
    return new (storage) ConcreteSender(flow, settings_);
  }
  std::uint32_t header_bytes() const override {
    if constexpr (requires { settings_.header_bytes; }) {
      return settings_.header_bytes;
    } else {
      return 0;
    }
  }

 private:
  typename ConcreteSender::Settings settings_;
};

// A control as users name it: `--congestion dctcp`.
struct Control {
  ModuleInfo info;
  // Says what it needs of queues. One that requires or uses Capability::kTelemetry gets Ack::telemetry.
  CapabilityNeeds needs = {};
  std::uint32_t hears = 0;  // of Hears
  std::unique_ptr<SenderFactory> (*make_factory)(const Parameters& parameters) = nullptr;
  // Null: receivers answer every packet, and do nothing else.
  std::unique_ptr<ReceiverFactory> (*make_receivers)(const Parameters& parameters) = nullptr;
  // What its senders count (FlowInfo::signals), by the names that stand in the results.
  std::vector<std::string> signals = {};
  // The queue discipline that it was made for, and gets where none is given and that suits; "": any.
  std::string queue = {};
  // Parameters of queue disciplines that have them, and their values where they aren't given: what it wants,
  // and could do without.
  std::vector<std::pair<std::string, std::string>> queue_settings = {};
  // What it leaves out of its source, so that it isn't taken for that: a warning of every run. "": nothing of
  // weight.
  std::string caveat = {};
  // With these parameters, does it compare what one packet met on its way with what the last one met? Better
  // not where a connection's packets take several ways. Null: no.
  bool (*wants_one_path)(const Parameters& parameters) = nullptr;
  // Is its source about ACKs for single packets, or a few, so that it does much worse where receivers hold
  // ACKs back for many? A warning says so.
  bool wants_every_ack = false;
  // Receivers acknowledge each packet with a mark at once, by itself, as Ultra Ethernet's do. Where it is
  // false, and packets of a connection keep their order, only a change of the mark makes them (RFC 8257
  // §3.2).
  bool marks_acked_at_once = false;
};

}  // namespace weft::congestion
