#include "congestion/controls/smartt.h"

#include <algorithm>

namespace weft::congestion {
namespace {

class Smartt final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : target(parameters.real("target")),
          fair_increase(parameters.real("fair_increase")),
          proportional_increase(parameters.real("proportional_increase")),
          fair_decrease(parameters.real("fair_decrease")),
          proportional_decrease(parameters.real("proportional_decrease")),
          fast_increase(parameters.real("fast_increase")),
          fast_delay(parameters.real("fast_delay")),
          mark_gain(parameters.real("mark_gain")),
          mark_threshold(parameters.real("mark_threshold")),
          max_window(parameters.real("max_window")) {}
    double target, fair_increase, proportional_increase, fair_decrease, proportional_decrease;
    double fast_increase, fast_delay, mark_gain, mark_threshold, max_window;
  };

  Smartt(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        packet_(flow.mtu_bytes),
        pipe_(std::max(packet_, static_cast<double>(flow.bdp_bytes))),
        base_rtt_s_(flow.base_rtt.seconds()),
        target_s_(base_rtt_s_ * settings.target),
        target_(Time::ps(static_cast<std::int64_t>(target_s_ * 1e12))),
        window_(std::max(packet_, pipe_ * settings.max_window)) {}

  void start(Time now) override {
    adapt_at_ = now + target_;
    allow();
  }

  void on_ack(const Ack& ack) override {
    const auto bytes = static_cast<double>(ack.bytes);
    acked_ += bytes;
    marked_share_ += settings_.mark_gain * ((ack.ecn_marked ? 1 : 0) - marked_share_);
    if (to_ignore_ > 0) {
      to_ignore_ -= bytes;
    } else if (!quick_adapt(ack.now, static_cast<double>(ack.in_flight))) {
      change_window(ack, bytes);
    }
    in_flight_ = ack.in_flight;
    allow();
  }
  void on_loss(const Loss& loss) override {
    window_ -= static_cast<double>(loss.bytes);
    adapts_ = true;
    if (to_ignore_ <= 0) quick_adapt(loss.now, static_cast<double>(in_flight_));
    allow();
  }
  void on_timeout(const Loss&) override {
    window_ = packet_;
    adapts_ = false;
    to_ignore_ = 0;
    allow();
  }

 private:
  // Once per target round trip: after a trim or loss in it, the window is what was acknowledged in it, and
  // what was sent before that says no more.
  bool quick_adapt(Time now, double in_flight) {
    if (now < adapt_at_) return false;
    const bool adapts = adapts_;
    if (adapts) {
      window_ = acked_;
      to_ignore_ = in_flight;
      adapts_ = false;
    }
    adapt_at_ = now + target_;
    acked_ = 0;
    return adapts;
  }

  void change_window(const Ack& ack, double bytes) {
    const double rtt_s = std::max(ack.rtt.seconds(), base_rtt_s_);
    const double packets = bytes / packet_;
    if (is_fast(ack, rtt_s, bytes)) {
      window_ += settings_.fast_increase * packet_ * packets;
      return;
    }
    const double fair = settings_.fair_increase * packet_ * packet_ / window_;
    const double share = settings_.fair_decrease * packet_ * window_ / pipe_;
    if (!ack.ecn_marked) {
      double more = fair;
      if (rtt_s < target_s_) {
        const double below = (target_s_ - rtt_s) / rtt_s;
        more += std::min(settings_.proportional_increase * below * packet_ * packet_ / window_, packet_);
      }
      window_ += more * packets;
    } else if (marked_share_ >= settings_.mark_threshold) {  // wait to decrease
      double less = share;
      if (rtt_s > target_s_) {
        const double above = (rtt_s - target_s_) / rtt_s;
        less = std::min(settings_.proportional_decrease * above * packet_ + share, packet_);
      }
      window_ -= less * packets;
    }
  }
  // Has a whole window come back without a queue?
  bool is_fast(const Ack& ack, double rtt_s, double bytes) {
    if (ack.ecn_marked || rtt_s > base_rtt_s_ * (1 + settings_.fast_delay)) {
      quiet_ = 0;
      fast_ = false;
      return false;
    }
    quiet_ += bytes;
    if (quiet_ > window_) fast_ = true;
    return fast_;
  }
  void allow() {
    window_ = std::clamp(window_, packet_, std::max(packet_, pipe_ * settings_.max_window));
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
  }

  Settings settings_;
  double packet_, pipe_;  // bytes: a full packet, a bandwidth-delay product
  double base_rtt_s_, target_s_;
  Time target_;
  double window_;
  double marked_share_ = 0;
  double quiet_ = 0;      // bytes in a row without a sign of a queue
  double acked_ = 0;      // since the last time for quick_adapt()
  double to_ignore_ = 0;  // bytes sent before the window was last adapted
  std::uint64_t in_flight_ = 0;
  Time adapt_at_;
  bool fast_ = false, adapts_ = false;
};

}  // namespace

const Control& smartt() {
  static const Control control{
      .info =
          {.name = "smartt",
           .summary = "Four cases of mark and round trip, and a jump to what got through after trimming.",
           .source = "T. Bonato et al., SMaRTT-REPS, arXiv 2404.01630 v1, and its artifact",
           .parameters =
               {{"target", ParameterType::kReal, "1.5", "Target round trip, in those without queues.",
                 above("1")},
                {"fair_increase", ParameterType::kReal, "0.15",
                 "Gain x: packets that the window grows in a round trip without marks.", at_least("0")},
                {"proportional_increase", ParameterType::kReal, "1",
                 "Gain y: the same for a round trip of half the target's length.", at_least("0")},
                {"fair_decrease", ParameterType::kReal, "1",
                 "Gain z: packets off for a marked one, at a window of one bandwidth-delay product.",
                 at_least("0")},
                {"proportional_decrease", ParameterType::kReal, "1",
                 "Gain w: packets off for a marked one far above the target round trip.", at_least("0")},
                {"fast_increase", ParameterType::kReal, "2",
                 "Gain k: packets more for each that comes back once a whole window did so without a queue.",
                 at_least("0")},
                {"fast_delay", ParameterType::kReal, "0.02",
                 "How much longer than without queues a round trip may be for that, as a share.",
                 at_least("0")},
                {"mark_gain", ParameterType::kReal, "0.125",
                 "Weight of the newest mark in the average of them.", above("0").up_to("1")},
                {"mark_threshold", ParameterType::kReal, "0.3",
                 "Average of marks from which the window shrinks (wait to decrease).", at_least("0")},
                {"max_window", ParameterType::kReal, "1.25",
                 "Greatest window, and the first, in bandwidth-delay products.", above("0")}},
           .about = "Goes by marks and by round trips, above or below a target: four cases, from "
                    "growing in proportion to shrinking in proportion. After a trim or a loss the "
                    "window jumps to what was acknowledged in the last target round trip, and what "
                    "was sent before is not listened to. Marks count only when they are many, as "
                    "single ones are for the load balancer to answer: meant to go with routing by "
                    "reps. Needs marks; makes use of trimming. Good: incasts, sprayed packets. Bad:"
                    " ten gains; thresholds of marks must fit the target."},
      .needs = {.required = Capability::kMark, .used = Capability::kTrim},
      .make_factory = SenderFactoryFor<Smartt>::make};
  return control;
}

}  // namespace weft::congestion
