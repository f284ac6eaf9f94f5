// Is the window what limits a sender? Shared by the controls whose windows grow only then.
#pragma once

#include <algorithm>

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: RFC 7661 §4.3 in spirit; the rule is that of Linux (tcp_is_cwnd_limited). A window is in use from
// the moment when all of it, but for a packet, is in flight, until what was in flight then is acknowledged.
// To look at the single moment of an ACK isn't enough: what that allows waits for its turn at the sender's
// NIC, so after a burst of ACKs less is in flight than may be. A window that the NIC can't fill in a round
// trip is not in use.
class WindowUse {
 public:
  // Is the window, of so many bytes, in use at this ACK? REQUIRES: called once for each ACK, before the
  // window is changed for it.
  bool at(const Ack& ack, double window_bytes, double mtu_bytes) {
    const auto after = static_cast<double>(ack.in_flight), bytes = static_cast<double>(ack.bytes);
    if (after + bytes + mtu_bytes >= window_bytes) {
      left_ = after;
      return true;
    }
    left_ = std::min(left_, after + bytes);
    const bool in_use = left_ > 0;
    left_ = std::max(0.0, left_ - bytes);
    return in_use;
  }
  // Nothing of what was sent is in flight any more.
  void forget() { left_ = 0; }

 private:
  double left_ = 0;  // bytes in flight at the last full window that are still to be acknowledged
};

}  // namespace weft::congestion
