// The seam for congestion control: pure state machines, driven by calls, without any simulator type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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
  std::uint32_t bytes = 0;      // payload newly acknowledged by it
  std::uint64_t in_flight = 0;  // payload bytes still unacknowledged, after this one
  bool ecn_marked = false;
};

// One flow's sender. Calls come in time order; each returns what is allowed from now on.
class Sender {
 public:
  virtual ~Sender() = default;
  virtual Allowance start() = 0;
  virtual Allowance on_ack(const Ack& ack) = 0;
  // A packet was found lost by its successors' ACKs (fast retransmit).
  virtual Allowance on_loss(Time now, std::uint32_t bytes) = 0;
  // The retransmission timer expired with nothing heard.
  virtual Allowance on_timeout(Time now) = 0;
};

// A control as users name it: `--congestion dctcp`. Senders live in slabs: `bytes` is sizeof the concrete
// class, `construct` places one into storage of that size (aligned to 16) and returns it.
struct Control {
  ModuleInfo info;
  bool needs_ecn = false;  // acts on ECN marks: the scenario resolver refuses it on queues that never mark
  std::size_t bytes = 0;
  Sender* (*construct)(void* storage, const FlowInfo& flow, const Parameters& parameters) = nullptr;
};

}  // namespace weft::congestion
