#include "congestion/controls/strack.h"

#include <algorithm>

#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

class Strack final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : increase(parameters.real("increase")),
          decrease(parameters.real("decrease")),
          max_decrease(parameters.real("max_decrease")),
          fair_increase(parameters.real("fair_increase")),
          base_target(time_or_zero(parameters, "base_target")),
          hop_target(parameters.automatic("hop_target") ? Time() : parameters.time("hop_target")),
          automatic_hop_target(parameters.automatic("hop_target")),
          max_window(parameters.real("max_window")) {}
    double increase, decrease, max_decrease, fair_increase;
    Time base_target, hop_target;  // base_target 0: the connection's own round trip
    bool automatic_hop_target;
    double max_window;
  };

  Strack(const FlowInfo& flow, const Settings& settings)
      : increase_(settings.increase),
        decrease_(settings.decrease),
        max_decrease_(settings.max_decrease),
        packet_(flow.mtu_bytes),
        step_(settings.fair_increase * packet_),
        most_(std::max(packet_, static_cast<double>(flow.bdp_bytes) * settings.max_window)),
        window_(std::max(packet_, static_cast<double>(flow.bdp_bytes))),
        base_rtt_(flow.base_rtt) {
    const double base_s = (settings.base_target > Time() ? settings.base_target : flow.base_rtt).seconds();
    const double hops_s = settings.automatic_hop_target
                              ? flow.base_rtt.seconds() / 2
                              : settings.hop_target.seconds() * static_cast<double>(flow.hops);
    target_s_ = base_s + hops_s;
  }

  void start(Time now) override {
    decreased_ = counted_from_ = now;
    allow();
  }

  void on_ack(const Ack& ack) override {
    count(ack);
    const double delay_s = ack.rtt.seconds();
    window_ += step_ * static_cast<double>(ack.bytes) / window_;
    if (delay_s < target_s_) {
      window_ += increase_ * packet_ * (target_s_ - delay_s) * 1e6 * static_cast<double>(ack.bytes) / window_;
    } else if (ack.now - ack.rtt >= decreased_) {  // by a packet that was sent since
      if (delay_s > 2 * target_s_ && achieved_ > 0) {
        window_ = std::min(window_, achieved_);
      } else {
        window_ *= std::max(1 - decrease_ * (delay_s - target_s_) / delay_s, 1 - max_decrease_);
      }
      decreased_ = ack.now;
    }
    allow();
  }
  void on_loss(const Loss& loss) override {
    if (loss.now - base_rtt_ < decreased_) return;
    window_ *= 1 - max_decrease_;
    decreased_ = loss.now;
    allow();
  }
  void on_timeout(const Loss& loss) override {
    window_ = packet_;
    decreased_ = loss.now;
    allow();
  }

 private:
  // What comes through in a round trip without queues.
  void count(const Ack& ack) {
    counted_ += static_cast<double>(ack.bytes);
    const double seconds = (ack.now - counted_from_).seconds();
    if (seconds < base_rtt_.seconds()) return;
    achieved_ = counted_ * base_rtt_.seconds() / seconds;
    counted_ = 0;
    counted_from_ = ack.now;
  }
  void allow() {
    window_ = std::clamp(window_, packet_, most_);
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
  }

  double increase_, decrease_, max_decrease_;
  double packet_, step_, most_, window_;  // bytes
  double target_s_ = 0;                   // round trip
  double achieved_ = 0;                   // bytes in the last round trip; 0: not known
  double counted_ = 0;                    // since counted_from_
  Time base_rtt_, counted_from_, decreased_;
};

}  // namespace

const Control& strack() {
  static const Control control{
      .info = {.name = "strack",
               .summary =
                   "Keeps round trips at a target that grows with hops; jumps down to what gets through.",
               .source = "Y. Le et al., STrack, arXiv 2407.15266",
               .parameters =
                   {{"increase", ParameterType::kReal, "0.25",
                     "Gain alpha: packets that the window grows in a round trip, for each microsecond "
                     "below the target.",
                     above("0")},
                    {"decrease", ParameterType::kReal, "0.8",
                     "Gain beta: share of the excess over the target taken off.", above("0").up_to("1")},
                    {"max_decrease", ParameterType::kReal, "0.5",
                     "Most taken off at once, as a share of the window.", above("0").up_to("1")},
                    {"fair_increase", ParameterType::kReal, "1",
                     "Packets that the window grows in any round trip, as Swift's does: else flows "
                     "that meet the target keep the shares they happen to have.",
                     at_least("0")},
                    {"base_target", ParameterType::kTime, "auto",
                     "Target round trip, without what hops add; auto: the connection's round trip "
                     "without queues.",
                     above("0")},
                    {"hop_target", ParameterType::kTime, "auto",
                     "What each link adds; auto: half a round trip without queues over all links.",
                     at_least("0")},
                    {"max_window", ParameterType::kReal, "1.5",
                     "Greatest window, in bandwidth-delay products; the first is one of them.", above("0")}},
               .about = "Goes by round trips alone. Below a target that grows with the hops the window "
                        "grows by what is left to it; above, it shrinks by a share of the excess, once "
                        "per round trip; and at twice the target it becomes what has come through in "
                        "the last round trip. Its marks are for load balancing: meant to go with "
                        "routing by bitmap. Needs nothing of switches. Good: sprayed packets, incasts. "
                        "Bad: targets must fit the network; flows with longer ways may get another "
                        "share; a queue of half a round trip stands."},
      .make_factory = SenderFactoryFor<Strack>::make};
  return control;
}

}  // namespace weft::congestion
