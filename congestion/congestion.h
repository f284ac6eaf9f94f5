// The seam for congestion control: pure state machines, driven by calls, without any simulator type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

// What is fixed when a flow starts.
struct FlowInfo {
  std::uint64_t bytes = 0;      // user bytes to send
  std::uint32_t mtu_bytes = 0;  // payload of a full packet
  Bandwidth line_rate;          // of the sender's NIC
  Time base_rtt;                // round trip of a full packet and its ACK without queueing
  // Bandwidth-delay product of the path in bytes: line_rate × base_rtt.
  std::uint64_t bdp_bytes = 0;
};

// What a sender may do now. A window of w lets at most w payload bytes be in flight (one packet always).
struct Allowance {
  std::uint64_t window_bytes = 0;
  Bandwidth rate;  // 0 bps: not paced
};

struct Ack {
  Time now;
  Time rtt;                     // of the packet acknowledged
  std::uint64_t bytes = 0;      // payload newly acknowledged by it
  std::uint64_t in_flight = 0;  // payload bytes still unacknowledged, after this one
  bool ecn_marked = false;
};

// One flow's sender. Calls come in time order; each returns what is allowed from now on.
class Sender {
 public:
  virtual ~Sender() = default;
  virtual Allowance start() = 0;
  virtual Allowance on_ack(const Ack& ack) = 0;
  // `bytes` of payload were found lost, by later packets' ACKs or after their reordering window.
  virtual Allowance on_loss(Time now, std::uint64_t bytes) = 0;
  // `bytes` of payload were cut off by a switch whose queue was full, and the sender was told so at once: a
  // NACK, or the header that came back. As a loss, unless a control knows better.
  virtual Allowance on_trim(Time now, std::uint64_t bytes) { return on_loss(now, bytes); }
  // The retransmission timer expired with nothing heard.
  virtual Allowance on_timeout(Time now) = 0;
};

// Makes senders with one choice of parameters. Senders live in slabs of the caller's: `sender_bytes` is the
// size of one, `construct` places one at `storage` (aligned to 16 bytes; destroyed through ~Sender).
class SenderFactory {
 public:
  virtual ~SenderFactory() = default;
  virtual std::size_t sender_bytes() const = 0;
  virtual Sender* construct(void* storage, const FlowInfo& flow) const = 0;
};

// For a sender class with a nested `Settings` made from Parameters (it throws InputError for values no sender
// can work with) and a constructor (const FlowInfo&, const Settings&).
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

 private:
  typename ConcreteSender::Settings settings_;
};

// A control as users name it: `--congestion dctcp`.
struct Control {
  ModuleInfo info;
  bool needs_ecn = false;  // acts on ECN marks: the scenario resolver refuses it on queues that never mark
  std::unique_ptr<SenderFactory> (*make_factory)(const Parameters& parameters) = nullptr;
};

}  // namespace weft::congestion
