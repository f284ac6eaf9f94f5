#include "congestion/controls/cubic.h"

#include <algorithm>
#include <cmath>

#include "congestion/controls/tcp_window.h"

namespace weft::congestion {
namespace {

constexpr double kRttWeight = 0.125;  // RFC 6298 §2

// Section numbers are those of RFC 9438; windows in packets, times in seconds.
class Cubic final : public TcpWindow {
 public:
  struct Settings : TcpSettings {
    explicit Settings(const Parameters& parameters)
        : TcpSettings(parameters),
          c(parameters.real("c")),
          beta(parameters.real("beta")),
          fast_convergence(parameters.boolean("fast_convergence")) {}
    double c, beta;
    bool fast_convergence;
  };
  Cubic(const FlowInfo& flow, const Settings& settings)
      : TcpWindow(flow, settings),
        c_(settings.c),
        beta_(settings.beta),
        fast_convergence_(settings.fast_convergence),
        rtt_(flow.base_rtt.seconds()) {}

 private:
  void avoid_congestion(const Ack& ack) override {
    rtt_ += kRttWeight * (ack.rtt.seconds() - rtt_);
    double window = window_ / mtu_bytes_;
    if (!growing_) begin(ack.now, window);
    last_ack_ = ack.now;
    const double acked = static_cast<double>(ack.bytes) / mtu_bytes_;
    const double t = (ack.now - epoch_).seconds();
    // §4.3: what Reno would have, with beta for its 1/2; its own step once it is back where it was.
    const double alpha = reno_ < prior_ ? 3 * (1 - beta_) / (1 + beta_) : 1;
    reno_ += alpha * acked / window;
    if (cubic(t) < reno_) {
      window = reno_;
    } else {  // §4.4, §4.5
      const double target = std::clamp(cubic(t + rtt_), window, 1.5 * window);
      window += (target - window) / window * acked;
    }
    window_ = window * mtu_bytes_;
  }
  // §5.8: time in which the window is not in use doesn't count.
  void rest(Time now) override {
    if (!growing_) return;
    epoch_ += now - last_ack_;
    last_ack_ = now;
  }
  // §4.6, §4.7. A mark may leave one packet, a loss two.
  void cut(double flight, bool marked) override {
    const double window = window_ / mtu_bytes_;
    prior_ = window;
    most_ = fast_convergence_ && window < most_ ? window * (1 + beta_) / 2 : window;
    window_ = std::max(flight * beta_, (marked ? 1 : 2) * mtu_bytes_);
    threshold_ = std::max(flight * beta_, 2 * mtu_bytes_);
    growing_ = false;
  }
  // §4.8: what comes after slow start begins at the plateau.
  void on_collapse() override {
    most_ = 0;
    growing_ = false;
  }

  void begin(Time now, double window) {
    growing_ = true;
    epoch_ = now;
    reno_ = window;
    most_ = std::max(most_, window);
    k_ = std::cbrt((most_ - window) / c_);
  }
  double cubic(double t) const { return c_ * (t - k_) * (t - k_) * (t - k_) + most_; }

  double c_, beta_;
  bool fast_convergence_;
  bool growing_ = false;  // since epoch_
  double rtt_;            // smoothed
  Time epoch_, last_ack_;
  double k_ = 0, most_ = 0;  // W_max, and when the window is back there
  double reno_ = 0;          // W_est
  double prior_ = 0;         // before the last cut
};

std::vector<ParameterSpec> cubic_parameters() {
  std::vector<ParameterSpec> list = TcpSettings::parameters();
  list.push_back({"c", ParameterType::kReal, "0.4", "Constant C, in packets per cubic second.", above("0")});
  list.push_back(
      {"beta", ParameterType::kReal, "0.7", "What a cut leaves of the window.", above("0").under("1")});
  list.push_back({"fast_convergence", ParameterType::kBoolean, "true",
                  "Aim lower if a cut came below where the last one was."});
  return list;
}

}  // namespace

const Control& cubic() {
  static const Control control{
      .info = {.name = "cubic",
               .summary = "TCP with a window that grows with the cube of the time since the last cut.",
               .source = "RFC 9438; RFC 5681; RFC 3168",
               .parameters = cubic_parameters(),
               .about =
                   "Goes by losses, and by marks where queues set them: a cut leaves 70 % of the window, "
                   "which then grows quickly towards where it was, slowly around there, and quickly "
                   "beyond; or as Reno would, where that is faster. Needs nothing of switches. Good: what "
                   "most of the Internet runs; long and fast paths; shares that depend little on round "
                   "trips. Bad: fills every queue; at the round trips of data centers it is Reno, as its "
                   "cube takes seconds."},
      .needs = {.used = Capability::kMark},
      .make_factory = SenderFactoryFor<Cubic>::make,
      .caveat = kTcpCaveat,
      .wants_every_ack = true};
  return control;
}

}  // namespace weft::congestion
