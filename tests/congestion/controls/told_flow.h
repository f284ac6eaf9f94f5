// One sender of a named control, told of ACKs with the times and telemetry that a test makes up.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "congestion/controls/controls.h"

namespace weft::congestion {

// 80 Gb/s for 10 us: 100,000 bytes.
inline const Bandwidth kToldRate = Bandwidth::gbps(80);
inline FlowInfo told_flow_info() {
  return {.mtu_bytes = 1000,
          .line_rate = kToldRate,
          .base_rtt = Time::us(10),
          .longest_rtt = Time::us(10),
          .bdp_bytes = 100'000,
          .hops = 2};
}

class ToldFlow {
 public:
  explicit ToldFlow(const std::string& name, const std::map<std::string, std::string>& given = {})
      : signals_(8) {
    const Control& control = find_module(controls(), {.name = name, .given = {}, .location = {}}, "control");
    factory_ = control.make_factory(Parameters(control.info, given));
    storage_.resize(factory_->sender_bytes() / sizeof(double) + 2);
    FlowInfo info = told_flow_info();
    info.signals = signals_.data();
    sender_ = factory_->construct(storage_.data(), info);
    sender_->start(Time());
  }
  ~ToldFlow() { sender_->~Sender(); }

  // The window after an ACK that came at `now_us` for a packet sent `rtt_us` before.
  double ack(double now_us, double rtt_us, std::uint64_t bytes, bool marked = false,
             const std::vector<HopTelemetry>& hops = {}, std::uint64_t in_flight = 0) {
    sender_->on_ack({.now = us(now_us),
                     .rtt = us(rtt_us),
                     .bytes = bytes,
                     .in_flight = in_flight,
                     .ecn_marked = marked,
                     .hops = 2,
                     .telemetry = hops});
    return window();
  }
  double told(double now_us, double rtt_us, const std::vector<HopTelemetry>& hops) {
    return ack(now_us, rtt_us, 1000, false, hops);
  }
  double lose(double now_us, std::uint64_t bytes) {
    sender_->on_loss({.now = us(now_us), .bytes = bytes});
    return window();
  }
  double time_out(double now_us, std::uint64_t bytes) {
    sender_->on_timeout({.now = us(now_us), .bytes = bytes});
    return window();
  }
  // Cut to whole bytes.
  double window() const { return static_cast<double>(sender_->allowed().window_bytes); }
  double rate_bps() const { return static_cast<double>(sender_->allowed().rate.bps()); }
  std::uint64_t signal(std::size_t index) const { return signals_[index]; }
  std::uint32_t header_bytes() const { return factory_->header_bytes(); }

  static Time us(double count) { return Time::ps(static_cast<std::int64_t>(count * 1e6 + 0.5)); }

 private:
  std::unique_ptr<SenderFactory> factory_;
  std::vector<double> storage_;
  std::vector<std::uint64_t> signals_;
  Sender* sender_ = nullptr;
};

// What a port of that rate wrote into a packet.
inline HopTelemetry hop(double at_us, std::uint64_t queue, std::uint64_t sent, std::uint32_t port = 1) {
  return {
      .at = ToldFlow::us(at_us), .queue_bytes = queue, .sent_bytes = sent, .rate = kToldRate, .port = port};
}

// What a window of so many bytes shows as.
inline Approx bytes(double expected) { return Approx(expected - 0.5).margin(0.51).epsilon(0); }

}  // namespace weft::congestion
