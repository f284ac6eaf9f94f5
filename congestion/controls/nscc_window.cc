#include "congestion/controls/nscc_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weft::congestion {

NsccWindow::Settings::Settings(const Parameters& parameters)
    : automatic_target(parameters.automatic("target")),
      target(automatic_target ? Time() : parameters.time("target")),
      target_share(parameters.real("target_share")),
      largest(parameters.real("largest_window")),
      proportional_gain(parameters.real("proportional_gain")),
      fair_gain(parameters.real("fair_gain")),
      step_gain(parameters.real("step_gain")),
      fast_gain(parameters.real("fast_gain")),
      gamma(parameters.real("gamma")),
      least_share(parameters.real("least_share")),
      delay_weight(parameters.real("delay_weight")),
      initial_packets(parameters.integer("initial_window")),
      adjust_packets(parameters.integer("adjust_packets")),
      quick_adapt_gate(parameters.integer("quick_adapt_gate")),
      fast_delay(parameters.time("fast_delay")),
      quick_adapt(parameters.boolean("quick_adapt")),
      fair_below_target(parameters.boolean("fair_below_target")),
      quick_adapt_delay(parameters.real("quick_adapt_delay")),
      reference_bdp(static_cast<double>(parameters.bandwidth("reference_rate").bps()) / 8 *
                    parameters.time("reference_rtt").seconds()),
      reference_rtt(parameters.time("reference_rtt")) {}

std::vector<ParameterSpec> NsccWindow::parameters() {
  return {
      {"target", ParameterType::kTime, "auto",
       "Queueing delay aimed at; auto: target_share of the network's RTT.", above("0")},
      {"target_share", ParameterType::kReal, "0.75",
       "Of the network's round trip, for the automatic target: 0.75 with trimming, 1 without.", above("0")},
      {"initial_window", ParameterType::kInteger, "0",
       "First window in full packets, the largest at most; 0: that.", at_least("0")},
      {"largest_window", ParameterType::kReal, "1.5", "In bandwidth-delay products of the path.", above("0")},
      {"proportional_gain", ParameterType::kReal, "4",
       "Packets added in a round trip without queueing, in the reference network.", at_least("0")},
      {"fair_gain", ParameterType::kReal, "5",
       "Packets added in a round trip above the target without marks.", at_least("0")},
      {"step_gain", ParameterType::kReal, "0.15", "Packets added in any round trip.", at_least("0")},
      {"fast_gain", ParameterType::kReal, "0.25", "Share of acknowledged bytes added while queues are empty.",
       at_least("0")},
      {"fast_delay", ParameterType::kTime, "1us", "Queueing delay below which queues count as empty."},
      {"gamma", ParameterType::kReal, "0.8", "Weight of the mean delay's excess in a decrease.",
       from_to("0", "1")},
      {"least_share", ParameterType::kReal, "0.5", "Share of the window that a decrease leaves at least.",
       above("0").up_to("1")},
      {"delay_weight", ParameterType::kReal, "0.0125", "Weight of the newest sample in the mean delay.",
       above("0").up_to("1")},
      {"adjust_packets", ParameterType::kInteger, "8",
       "Increases are added to the window every so many packets.", at_least("1")},
      {"quick_adapt", ParameterType::kBoolean, "true",
       "Set the window to what arrives after heavy congestion."},
      {"quick_adapt_gate", ParameterType::kInteger, "3",
       "Only where less than the largest window / 2^gate arrived.", from_to("0", "30")},
      {"quick_adapt_delay", ParameterType::kReal, "4", "Queueing delay that makes it look, in targets.",
       at_least("0")},
      {"fair_below_target", ParameterType::kBoolean, "false",
       "Add the fair increase below the target too, as drafts of the specification did."},
      {"reference_rate", ParameterType::kBandwidth, "100Gbps", "Of the network that gains are given for.",
       above("0")},
      {"reference_rtt", ParameterType::kTime, "12us", "Its round trip.", above("0")}};
}

NsccWindow::NsccWindow(const FlowInfo& flow, const Settings& settings)
    : settings_(&settings),
      mtu_bytes_(flow.mtu_bytes),
      base_rtt_ps_(std::max<std::int64_t>(flow.base_rtt.ps(), 1)),
      network_rtt_ps_(std::max({flow.network_rtt, flow.longest_rtt, flow.base_rtt, Time::ps(1)}).ps()),
      decreased_ps_(std::numeric_limits<std::int64_t>::min() / 2),
      least_host_delay_ps_(std::numeric_limits<std::int64_t>::max()) {
  // Gains are those of the way itself, and the margin of the largest window has room for ACKs that wait.
  const double bdp = static_cast<double>(flow.bdp_bytes) * static_cast<double>(base_rtt_ps_) /
                     static_cast<double>(base_rtt_ps_ + flow.answer_wait.ps());
  scale_ = bdp * (static_cast<double>(network_rtt_ps_) / static_cast<double>(base_rtt_ps_)) /
           settings.reference_bdp;
  // Only whole packets are sent.
  const double packets = std::ceil(static_cast<double>(flow.bdp_bytes) / mtu_bytes_);
  largest_ = std::max({mtu_bytes_, settings.largest * bdp, packets * mtu_bytes_});
  target_ps_ = settings.automatic_target
                   ? static_cast<std::int64_t>(settings.target_share * static_cast<double>(network_rtt_ps_))
                   : settings.target.ps();
  target_ps_ = std::max<std::int64_t>(target_ps_, 1);
  window_ =
      settings.initial_packets == 0 ? largest_ : static_cast<double>(settings.initial_packets) * mtu_bytes_;
  keep_in_bounds();
}

// What ACKs wait for at the receiver is not queueing; what all of them have in their hosts is in the base.
Time NsccWindow::delay_of(const Ack& ack) {
  least_host_delay_ps_ = std::min(least_host_delay_ps_, ack.host_delay.ps());
  const std::int64_t held_ps = ack.host_delay.ps() - least_host_delay_ps_;
  return Time::ps(std::max<std::int64_t>(0, ack.rtt.ps() - held_ps - base_rtt_ps_));
}

// Without a mark, a long delay is no congestion that lasts.
void NsccWindow::sample_delay(double delay_ps, bool marked) {
  if (!marked && delay_ps > static_cast<double>(target_ps_))
    delay_ps = 0.25 * static_cast<double>(base_rtt_ps_);
  mean_delay_ps_ += settings_->delay_weight * (delay_ps - mean_delay_ps_);
}

void NsccWindow::on_ack(const Ack& ack) {
  const double bytes = static_cast<double>(ack.bytes);
  const std::int64_t delay_ps = delay_of(ack).ps();
  achieved_ += bytes;
  since_adjusted_ += bytes;
  ignored_ += bytes;
  sample_delay(static_cast<double>(delay_ps), ack.ecn_marked);
  if (quick_adapt(ack.now, false, ack.ecn_marked, delay_ps, ack.in_flight)) return;
  if (!ack.ecn_marked) {
    increase(bytes, delay_ps);
  } else if (delay_ps >= target_ps_) {
    decrease(ack.now);
  }
  keep_in_bounds();
  fulfil(ack.now);
}

void NsccWindow::increase(double bytes, std::int64_t delay_ps) {
  const double fair = settings_->fair_gain * mtu_bytes_ * scale_;
  if (delay_ps >= target_ps_) {
    increase_ += fair * bytes;
    return;
  }
  if (delay_ps < settings_->fast_delay.ps()) {
    calm_ += bytes;
    fast_ = fast_ || calm_ > window_;
    if (fast_) {
      window_ += bytes * settings_->fast_gain * scale_;
      return;
    }
  } else {
    calm_ = 0;
    fast_ = false;
  }
  // alpha = 4 mtu · a · b / target with b = target / 12 us.
  const double alpha =
      settings_->proportional_gain * mtu_bytes_ * scale_ / static_cast<double>(settings_->reference_rtt.ps());
  increase_ += alpha * bytes * static_cast<double>(target_ps_ - delay_ps);
  if (settings_->fair_below_target) increase_ += fair * bytes;
}

void NsccWindow::decrease(Time now) {
  fast_ = false;
  calm_ = 0;
  const double target = static_cast<double>(target_ps_);
  if (mean_delay_ps_ <= target || now.ps() - decreased_ps_ <= base_rtt_ps_) return;
  window_ *=
      std::max(1 - settings_->gamma * (mean_delay_ps_ - target) / mean_delay_ps_, settings_->least_share);
  decreased_ps_ = now.ps();
}

void NsccWindow::fulfil(Time now) {
  const bool due = now.ps() - adjusted_ps_ >= network_rtt_ps_;
  if (!due && since_adjusted_ <= static_cast<double>(settings_->adjust_packets) * mtu_bytes_) return;
  window_ += increase_ / window_;
  if (due) {
    window_ += settings_->step_gain * mtu_bytes_ * scale_;
    adjusted_ps_ = now.ps();
  }
  increase_ = since_adjusted_ = 0;
  keep_in_bounds();
}

bool NsccWindow::quick_adapt(Time now, bool lost, bool marked, std::int64_t delay_ps,
                             std::uint64_t in_flight) {
  if (!settings_->quick_adapt) return false;
  bool done = false;
  if (ignored_ < to_ignore_ && marked) {
    done = true;
  } else if (now.ps() > adapt_end_ps_) {
    const double gate = largest_ / static_cast<double>(std::int64_t{1} << settings_->quick_adapt_gate);
    const bool heavy =
        adapt_ || lost ||
        static_cast<double>(delay_ps) > settings_->quick_adapt_delay * static_cast<double>(target_ps_);
    if (adapt_end_ps_ != 0 && heavy && achieved_ < gate) {
      window_ = std::max(achieved_, mtu_bytes_);
      to_ignore_ = static_cast<double>(in_flight);
      ignored_ = 0;
      adapt_ = false;
      done = true;
    }
    achieved_ = 0;
    adapt_end_ps_ = now.ps() + base_rtt_ps_ + target_ps_;
  }
  if (done) increase_ = since_adjusted_ = 0;
  return done;
}

void NsccWindow::on_trim(const Loss& loss, bool counts) {
  const double bytes = static_cast<double>(loss.bytes);
  ignored_ += bytes;
  sample_delay(static_cast<double>(network_rtt_ps_), true);
  adapt_ = true;
  if (quick_adapt(loss.now, true, true, 0, loss.in_flight) || !counts) return;
  window_ -= bytes;
  keep_in_bounds();
}

void NsccWindow::on_loss(const Loss& loss) {
  const double bytes = static_cast<double>(loss.bytes);
  ignored_ += bytes;
  adapt_ = true;
  if (quick_adapt(loss.now, true, true, 0, loss.in_flight)) return;
  window_ -= bytes;
  keep_in_bounds();
}

void NsccWindow::on_timeout(const Loss& loss) {
  window_ -= static_cast<double>(loss.bytes);
  keep_in_bounds();
}

void NsccWindow::keep_in_bounds() { window_ = std::clamp(window_, mtu_bytes_, largest_); }

}  // namespace weft::congestion
