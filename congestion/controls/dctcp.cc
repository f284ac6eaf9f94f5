#include "congestion/controls/dctcp.h"

#include <algorithm>
#include <limits>

#include "congestion/controls/window_use.h"

namespace weft::congestion {
namespace {

class Dctcp final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : gain(parameters.real("gain")),
          initial_packets(parameters.integer("initial_window")),
          slow_start(parameters.boolean("slow_start")),
          initial_alpha(parameters.automatic("initial_alpha") ? (slow_start ? 1 : 0)
                                                              : parameters.real("initial_alpha")) {}
    double gain;
    std::int64_t initial_packets;  // 0: one bandwidth-delay product
    bool slow_start;
    double initial_alpha;
  };

  Dctcp(const FlowInfo& flow, const Settings& settings)
      : gain_(settings.gain), alpha_(settings.initial_alpha), mtu_bytes_(flow.mtu_bytes) {
    const double first = settings.initial_packets > 0
                             ? static_cast<double>(settings.initial_packets) * mtu_bytes_
                             : static_cast<double>(flow.bdp_bytes);
    window_ = std::max(mtu_bytes_, first);
    threshold_ = settings.slow_start ? std::numeric_limits<double>::infinity() : window_;
  }

  void start(Time) override { allow(); }

  void on_ack(const Ack& ack) override {
    const double bytes = static_cast<double>(ack.bytes);
    const bool in_use = use_.at(ack, window_, mtu_bytes_);
    acked_ += bytes;
    if (ack.ecn_marked) marked_ += bytes;
    if (ack.ecn_marked && !reduced_) {  // RFC 8257 §3.3 step 9, once per window of data
      reduced_ = true;
      window_ = std::max(mtu_bytes_, window_ * (1 - alpha_ / 2));
      threshold_ = window_;
    } else if (!ack.ecn_marked && in_use) {
      window_ += window_ < threshold_ ? bytes : bytes * mtu_bytes_ / window_;
    }
    left_of_window_ -= bytes;
    if (left_of_window_ <= 0) {
      // §3.3 steps 5–8: one estimate per window of data, that is, once what was in flight when the last one
      // ended has been acknowledged.
      if (acked_ > 0) alpha_ += gain_ * (marked_ / acked_ - alpha_);
      acked_ = marked_ = 0;
      reduced_ = false;
      left_of_window_ = static_cast<double>(ack.in_flight);
    }
    allow();
  }

  // §3.5: losses are answered as TCP does, by half, once per window of data.
  void on_loss(const Loss&) override {
    if (!reduced_) {
      reduced_ = true;
      window_ = threshold_ = std::max(mtu_bytes_, window_ / 2);
    }
    allow();
  }

  void on_timeout(const Loss&) override {
    threshold_ = std::max(2 * mtu_bytes_, window_ / 2);
    window_ = mtu_bytes_;
    use_.forget();
    allow();
  }

 private:
  void allow() { allowed_.window_bytes = static_cast<std::uint64_t>(window_); }

  double gain_, alpha_, mtu_bytes_;
  double window_ = 0, threshold_ = 0;
  double acked_ = 0, marked_ = 0;  // bytes of the present window of data
  double left_of_window_ = 0;      // bytes to be acknowledged until it ends
  WindowUse use_;
  bool reduced_ = false;  // the window was cut for it already
};

}  // namespace

const Control& dctcp() {
  static const Control control{
      .info = {.name = "dctcp",
               .summary = "Cuts the window by the share of marked packets, as Data Center TCP does.",
               .source = "RFC 8257; Alizadeh et al., SIGCOMM 2010",
               .parameters = {{"gain", ParameterType::kReal, "0.0625", "Weight g of the newest estimate.",
                               above("0").up_to("1")},
                              {"initial_alpha", ParameterType::kReal, "auto",
                               "First estimate of the marked share; auto: 1 with slow_start, as RFC "
                               "8257 has it, else 0.",
                               from_to("0", "1")},
                              {"initial_window", ParameterType::kInteger, "0",
                               "First window in full packets; 0: one bandwidth-delay product of the path.",
                               at_least("0")},
                              {"slow_start", ParameterType::kBoolean, "false",
                               "Double the window each round trip until the first mark or loss."}},
               .about = "Goes by marks that switches set above a queue length, echoed one for one: once per "
                        "window of data the window is cut by half the smoothed share of marked bytes, and "
                        "grows by a packet per round trip else. Needs switches that mark. Good: short queues "
                        "with plain ECN switches, "
                        "few settings. Bad: a round trip late; incasts of more flows than a queue holds "
                        "packets overflow it; flows with longer round trips get less."},
      .needs = {.required = Capability::kMark},
      .make_factory = SenderFactoryFor<Dctcp>::make};
  return control;
}

}  // namespace weft::congestion
