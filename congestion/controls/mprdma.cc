#include "congestion/controls/mprdma.h"

#include <algorithm>

#include "congestion/controls/window_use.h"

namespace weft::congestion {
namespace {

class Mprdma final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : increase(parameters.real("increase")),
          decrease(parameters.real("decrease")),
          initial_packets(parameters.integer("initial_window")) {}
    double increase, decrease;
    std::int64_t initial_packets;  // 0: one bandwidth-delay product
  };

  Mprdma(const FlowInfo& flow, const Settings& settings)
      : mtu_bytes_(flow.mtu_bytes),
        gain_(settings.increase * mtu_bytes_),
        cut_(settings.decrease),
        window_(settings.initial_packets > 0 ? static_cast<double>(settings.initial_packets) * mtu_bytes_
                                             : static_cast<double>(flow.bdp_bytes)) {}

  void start(Time) override { allow(); }

  // What is acknowledged at once counts as so many ACKs.
  void on_ack(const Ack& ack) override {
    const double bytes = static_cast<double>(ack.bytes);
    const bool in_use = use_.at(ack, window_, mtu_bytes_);
    if (ack.ecn_marked) {
      window_ -= bytes * cut_;
    } else if (in_use) {
      window_ += bytes * gain_ / window_;
    }
    allow();
  }
  void on_loss(const Loss& loss) override {
    window_ -= static_cast<double>(loss.bytes) * cut_;
    allow();
  }
  void on_timeout(const Loss&) override {
    window_ = 0;
    use_.forget();
    allow();
  }

 private:
  void allow() {
    window_ = std::max(window_, mtu_bytes_);
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
  }

  double mtu_bytes_, gain_, cut_, window_;
  WindowUse use_;
};

}  // namespace

const Control& mprdma() {
  static const Control control{
      .info = {.name = "mprdma",
               .summary =
                   "One window over all paths, moved by every ACK: up a little, or down half a packet.",
               .source = "Lu et al., NSDI 2018, section 3.1",
               .parameters = {{"increase", ParameterType::kReal, "1",
                               "Packets that a window of unmarked ACKs adds.", above("0")},
                              {"decrease", ParameterType::kReal, "0.5",
                               "Packets that each marked ACK takes away.", above("0")},
                              {"initial_window", ParameterType::kInteger, "0",
                               "First window in full packets; 0: one bandwidth-delay product of the path.",
                               at_least("0")}},
               .about = "Goes by marks, one ACK at a time: an unmarked one adds 1/W packets to the window, a "
                        "marked one takes half a packet away, so that paths with marks lose their share at "
                        "once. Needs switches that mark. Good: little state, quick, made for packets that "
                        "are spread over many paths. Bad: each flow holds about two marks per round trip, so "
                        "many flows through one port want deep queues, or more marking than there is room "
                        "for; no smaller window than a packet."},
      .needs = {.required = Capability::kMark},
      .make_factory = SenderFactoryFor<Mprdma>::make};
  return control;
}

}  // namespace weft::congestion
