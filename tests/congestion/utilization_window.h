// The worked example of a control that listens to the network's ports: it keeps the utilization of the
// fullest port on its way at a target, by the telemetry that each ACK brings. That is the multiplicative part
// of HPCC, without its stages of additive increase.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "congestion/congestion.h"

namespace weft::congestion {

class UtilizationWindow final : public Sender {
 public:
  enum Signal : std::uint8_t { kReference, kNewPath };
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : target(parameters.real("target")), header_bytes(parameters.whole("telemetry_bytes")) {
      if (!(target > 0 && target <= 1)) parameters.fail("target", "it must be above 0, and 1 at most");
    }
    double target;
    std::uint32_t header_bytes;
  };

  UtilizationWindow(const FlowInfo& flow, const Settings& settings)
      : flow_(flow), target_(settings.target), reference_(static_cast<double>(flow.bdp_bytes)) {
    allow(reference_);
  }

  void start(Time now) override { updated_ = now; }
  void on_ack(const Ack& ack) override {
    const bool known = std::equal(last_.begin(), last_.end(), ack.telemetry.begin(), ack.telemetry.end(),
                                  [](const auto& a, const auto& b) { return a.port == b.port; });
    if (known) {
      estimate(ack.telemetry);
      const double window = reference_ * target_ / std::max(utilization_, 0.01);
      allow(window);
      if (ack.now - ack.rtt >= updated_) {  // by a packet that was sent since: once per round trip
        reference_ = static_cast<double>(allowed_.window_bytes);
        updated_ = ack.now;
        ++flow_.signals[kReference];
      }
    } else {
      ++flow_.signals[kNewPath];
    }
    last_.assign(ack.telemetry.begin(), ack.telemetry.end());
  }
  void on_loss(const Loss&) override {}
  void on_timeout(const Loss&) override {}

  // Returns the utilization of the fullest port on the way, smoothed over a round trip: 1 is a full link
  // without a queue.
  double utilization() const { return utilization_; }

 private:
  // HPCC, algorithm 1, lines 1 to 9.
  void estimate(std::span<const HopTelemetry> hops) {
    double most = 0, over = 0;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const double bytes_per_s = static_cast<double>(hops[i].rate.bps()) / 8;
      const double seconds = (hops[i].at - last_[i].at).seconds();
      if (seconds <= 0) continue;
      const auto queue = static_cast<double>(std::min(hops[i].queue_bytes, last_[i].queue_bytes));
      const double sent = static_cast<double>(hops[i].sent_bytes - last_[i].sent_bytes) / seconds;
      const double full = queue / (bytes_per_s * flow_.base_rtt.seconds()) + sent / bytes_per_s;
      if (full > most) {
        most = full;
        over = seconds;
      }
    }
    const double share = std::min(1.0, over / flow_.base_rtt.seconds());
    utilization_ = (1 - share) * utilization_ + share * most;
  }
  void allow(double window) {
    const auto most = 4 * static_cast<double>(flow_.bdp_bytes);
    allowed_.window_bytes =
        static_cast<std::uint64_t>(std::clamp(window, static_cast<double>(flow_.mtu_bytes), most));
    allowed_.rate = Bandwidth::bps(
        static_cast<std::int64_t>(static_cast<double>(allowed_.window_bytes) * 8 / flow_.base_rtt.seconds()));
  }

  FlowInfo flow_;
  double target_, reference_, utilization_ = 1;
  Time updated_;
  std::vector<HopTelemetry> last_;
};

inline Control utilization_window() {
  return {
      .info = {.name = "utilization_window",
               .summary = "Keeps the utilization of the fullest port on the way at a target.",
               .source = "Y. Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, section 3.3",
               .parameters = {{"target", ParameterType::kReal, "0.95",
                               "Utilization of the fullest port, above 0, 1 at most."},
                              {"telemetry_bytes", ParameterType::kInteger, "42",
                               "By how much the header of every packet is longer: as in the paper, five hops "
                               "of 8 bytes and 2 more."}}},
      .needs = {.required = Capability::kTelemetry},
      .make_factory = SenderFactoryFor<UtilizationWindow>::make,
      .signals = {"reference_window", "new_path"}};
}

}  // namespace weft::congestion
