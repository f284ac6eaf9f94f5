// The window law of Ultra Ethernet's sender-based congestion control: what `nscc` and `nscc_rccc` share.
#pragma once

#include <cstdint>
#include <vector>

#include "congestion/congestion.h"

namespace weft::congestion {

// NSCC. Source: Ultra Ethernet Specification 1.0, section 3.6.13, with the constants of the consortium's
// public simulation (ultraethernet/uet-htsim). Two signals, the mark m and the queueing delay d = RTT − base
// RTT, against a target give four cases for each ACK of n bytes, in a window W:
//   no mark, d >= target   fair increase:          I += fair · n
//   no mark, d <  target   proportional increase:  I += alpha · n · (target − d), or a fast one:
//                          W += fast · n where d was below `fast_delay` for more than a window
//   mark, d >= target      decrease, once in a base RTT, if the mean delay is above the target:
//                          W *= max(1 − gamma · (mean − target) / mean, least share)
//   mark, d <  target      nothing: another path will do
// I / W is added to W every few packets or network RTT, and `step` once in each such time. A packet that was
// cut off takes its bytes from W, and counts as a delay of one network RTT. Quick adapt: once in base RTT +
// target, after cut-off packets, losses, or delays of several targets, and where less than a share of the
// largest window arrived since the last look, W becomes what arrived; what is in flight then is not reacted
// to again.
class NsccWindow {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters);
    bool automatic_target;
    Time target;
    double target_share, largest, proportional_gain, fair_gain, step_gain, fast_gain, gamma, least_share,
        delay_weight;
    std::int64_t initial_packets, adjust_packets, quick_adapt_gate;
    Time fast_delay;
    bool quick_adapt, fair_below_target;
    double quick_adapt_delay, reference_bdp;
    Time reference_rtt;
  };
  static std::vector<ParameterSpec> parameters();

  // `settings` live longer.
  NsccWindow(const FlowInfo& flow, const Settings& settings);

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(window_); }
  Time target() const { return Time::ps(target_ps_); }

  void on_ack(const Ack& ack);
  // `counts`: false where the receiver reacts to it, so that the window doesn't.
  void on_trim(const Loss& loss, bool counts);
  void on_loss(const Loss& loss);
  void on_timeout(const Loss& loss);

 private:
  Time delay_of(const Ack& ack);
  void sample_delay(double delay_ps, bool marked);
  // True: this was to be ignored, or the window was set by it.
  bool quick_adapt(Time now, bool lost, bool marked, std::int64_t delay_ps, std::uint64_t in_flight);
  void increase(double bytes, std::int64_t delay_ps);
  void decrease(Time now);
  void fulfil(Time now);
  void keep_in_bounds();

  const Settings* settings_;
  double mtu_bytes_, largest_;
  double scale_;  // a: the network's bandwidth-delay product over the reference's
  std::int64_t base_rtt_ps_, network_rtt_ps_, target_ps_;
  double window_;
  double increase_ = 0;  // I, in bytes²
  double mean_delay_ps_ = 0;
  double since_adjusted_ = 0, achieved_ = 0, ignored_ = 0, to_ignore_ = 0, calm_ = 0;  // bytes
  std::int64_t adjusted_ps_ = 0, decreased_ps_, adapt_end_ps_ = 0;
  std::int64_t least_host_delay_ps_;
  bool fast_ = false, adapt_ = false;
};

}  // namespace weft::congestion
