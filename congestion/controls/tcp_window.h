// What NewReno and CUBIC have in common: slow start, one cut for each window of data, timeouts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "congestion/congestion.h"
#include "congestion/controls/window_use.h"

namespace weft::congestion {

// S. Floyd and V. Jacobson, "On traffic phase effects in packet-switched gateways", 1992.
inline constexpr const char* kTcpCaveat =
    "unfair where queues drop what doesn't fit (droptail): in step, a flow that comes later may get next to "
    "nothing until others end; marks (--queue ecn) make shares even";

struct TcpSettings {
  explicit TcpSettings(const Parameters& parameters)
      : initial_packets(parameters.integer("initial_window")), ecn(parameters.boolean("ecn")) {}
  static std::vector<ParameterSpec> parameters() {
    return {{"initial_window", ParameterType::kInteger, "10",
             "First window in full packets; 0: one bandwidth-delay product of the path.", at_least("0")},
            {"ecn", ParameterType::kBoolean, "true",
             "Answer marks, where queues set them, as losses (RFC 3168)."}};
  }
  std::int64_t initial_packets;
  bool ecn;
};

// Source: RFC 5681 (slow start, bytes counted; timeouts), RFC 6582 (one cut for all losses of a window of
// data), RFC 3168 §6.1.2 (marks). What is sent again, and when, is the recovery's business. Derived classes
// say how the window grows beyond slow start, and what a cut leaves of it. Windows grow only while they are
// what limits the sender.
class TcpWindow : public Sender {
 public:
  TcpWindow(const FlowInfo& flow, const TcpSettings& settings)
      : mtu_bytes_(flow.mtu_bytes), ecn_(settings.ecn) {
    const double first = settings.initial_packets > 0
                             ? static_cast<double>(settings.initial_packets) * mtu_bytes_
                             : static_cast<double>(flow.bdp_bytes);
    window_ = std::max(first, mtu_bytes_);
  }

  void start(Time) final { allow(); }
  void on_ack(const Ack& ack) final {
    const double bytes = static_cast<double>(ack.bytes);
    in_flight_ = static_cast<double>(ack.in_flight);
    timed_out_ = false;
    const bool recovers = until_recovered_ > 0;
    until_recovered_ = std::max(0.0, until_recovered_ - bytes);
    const bool in_use = use_.at(ack, window_, mtu_bytes_);
    if (ack.ecn_marked && ecn_) {
      if (!recovers) cut_once(in_flight_ + bytes, true);
    } else if (recovers || !in_use) {
      rest(ack.now);
    } else if (window_ < threshold_) {
      window_ += bytes;
    } else {
      avoid_congestion(ack);
    }
    allow();
  }
  void on_loss(const Loss& loss) final {
    if (until_recovered_ <= 0) cut_once(in_flight_ + static_cast<double>(loss.bytes), false);
    allow();
  }
  void on_timeout(const Loss& loss) final {
    // Where several come in a row, the first one sets the threshold (RFC 5681 §3.1).
    if (!timed_out_) cut(std::max(in_flight_, static_cast<double>(loss.bytes)), false);
    threshold_ = std::max(threshold_, 2 * mtu_bytes_);
    on_collapse();
    window_ = mtu_bytes_;
    timed_out_ = true;
    until_recovered_ = 0;
    in_flight_ = 0;
    use_.forget();
    allow();
  }

 protected:
  // An ACK while the window limits the sender, beyond slow start.
  virtual void avoid_congestion(const Ack& ack) = 0;
  // Sets window_ and threshold_ after a loss or mark. `flight`: bytes that were under way.
  virtual void cut(double flight, bool marked) = 0;
  // A timeout is about to leave one packet.
  virtual void on_collapse() {}
  // An ACK at `now` finds no reason to grow.
  virtual void rest(Time /*now*/) {}

  double mtu_bytes_;
  double window_ = 0;  // bytes, here and below
  double threshold_ = std::numeric_limits<double>::infinity();

 private:
  void cut_once(double flight, bool marked) {
    cut(flight, marked);
    until_recovered_ = flight;
  }
  void allow() { allowed_.window_bytes = static_cast<std::uint64_t>(window_); }

  double in_flight_ = 0;        // after the last ACK
  double until_recovered_ = 0;  // to be acknowledged until what was under way at the last cut is
  WindowUse use_;
  bool ecn_;
  bool timed_out_ = false;  // and nothing was acknowledged since
};

}  // namespace weft::congestion
