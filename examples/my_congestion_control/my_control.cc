// A congestion control of one's own: keeps the delay that queues add near a target. It grows by a packet per
// round trip below the target; above, it cuts in proportion to how far above it is, once per round trip.
// The idea is Swift's (G. Kumar et al., SIGCOMM 2020) without what makes that fit for production.
#include <algorithm>

#include "sim/plugins/plugin.h"

namespace {

using weft::ParameterType;
using weft::Time;
using namespace weft::congestion;

class DelayTarget final : public Sender {
 public:
  // What users may set. Read once per run, before any connection opens.
  struct Settings {
    explicit Settings(const weft::Parameters& parameters)
        : target(parameters.time("target")),
          increase(parameters.real("increase")),
          decrease(parameters.real("decrease")) {}
    Time target;
    double increase, decrease;
  };

  DelayTarget(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        packet_(flow.mtu_bytes),
        base_rtt_(flow.base_rtt),
        window_(static_cast<double>(flow.bdp_bytes)) {}

  void start(Time) override { allow(); }

  void on_ack(const Ack& ack) override {
    const Time queueing = ack.rtt - base_rtt_;
    if (queueing <= settings_.target) {
      // A packet per round trip, spread over its ACKs.
      window_ += settings_.increase * packet_ * static_cast<double>(ack.bytes) / window_;
    } else if (ack.now >= cut_again_) {
      const double above = ratio(queueing - settings_.target, queueing);
      cut(ack.now, ack.rtt, 1 - settings_.decrease * above);
    }
    allow();
  }

  // Packets are lost only where a queue was full, far above the target.
  void on_loss(const Loss& loss) override {
    if (loss.now >= cut_again_) cut(loss.now, base_rtt_, 0.5);
    allow();
  }

  void on_timeout(const Loss&) override {
    window_ = packet_;
    allow();
  }

 private:
  static double ratio(Time a, Time b) { return static_cast<double>(a.ps()) / static_cast<double>(b.ps()); }
  // What is under way was sent before the cut, and says nothing about it.
  void cut(Time now, Time rtt, double factor) {
    window_ *= std::max(factor, 0.5);
    cut_again_ = now + rtt;
  }
  // Senders say what they may do, and are asked after each call.
  void allow() {
    window_ = std::max(window_, packet_);
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
  }

  Settings settings_;
  double packet_;
  Time base_rtt_;
  double window_;  // bytes
  Time cut_again_;
};

Control delay_target() {
  return {.info = {.name = "delay_target",
                   .summary = "Keeps the delay that queues add near a target.",
                   .source = "after G. Kumar et al., Swift, SIGCOMM 2020",
                   .parameters = {{"target", ParameterType::kTime, "2us", "Delay that queues may add.",
                                   weft::above("0")},
                                  {"increase", ParameterType::kReal, "1", "Packets more per round trip.",
                                   weft::above("0")},
                                  {"decrease", ParameterType::kReal, "0.8",
                                   "Of the delay's part above the target, what the window is cut by.",
                                   weft::above("0").up_to("1")}},
                   .about = "Goes by round trips alone: needs nothing of switches."},
          .make_factory = SenderFactoryFor<DelayTarget>::make};
}

}  // namespace

WEFT_PLUGIN(plugin) { plugin.controls.push_back(delay_target()); }
