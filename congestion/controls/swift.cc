#include "congestion/controls/swift.h"

#include <algorithm>
#include <cmath>

#include "congestion/controls/rates.h"
#include "congestion/controls/window_use.h"

namespace weft::congestion {
namespace {

// Default targets follow the path: each hop adds what it takes of a round trip in which only the ACK waits,
// for a packet, and the base is the queueing that is allowed. The default queues have room for one round
// trip.
constexpr double kBaseShare = 0.25;
constexpr double kRangeBases = 5;  // htsim
// The greatest window, unless given: more than anyone needs on paths of a datacenter, and on longer ones what
// the path and as much again in queues hold.
constexpr double kWindow = 1000, kWindowBdps = 2;

class Swift final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : increase(parameters.real("ai")),
          beta(parameters.real("beta")),
          max_mdf(parameters.real("max_mdf")),
          fs_min(parameters.real("fs_min")),
          fs_max(parameters.real("fs_max")),
          endpoint_weight(parameters.real("endpoint_weight")),
          min_window(parameters.real("min_window")),
          max_window(parameters.automatic("max_window") ? 0 : parameters.real("max_window")),
          base_target(time_or_zero(parameters, "base_target")),
          hop_target(time_or_zero(parameters, "hop_target")),
          fs_range(parameters.automatic("fs_range") ? Time::max() : parameters.time("fs_range")),
          endpoint_target(parameters.time("endpoint_target")),
          reset_after(parameters.integer("reset_after")),
          initial_packets(parameters.integer("initial_window")) {
      if (!(fs_max > fs_min)) parameters.fail("fs_max", "it must be above fs_min");
      if (max_window > 0 && max_window < min_window) {
        parameters.fail("max_window", "it must not be below min_window");
      }
      if (max_window > 0 && static_cast<double>(initial_packets) > max_window) {
        parameters.fail("initial_window", "it must not be above max_window");
      }
    }
    double increase, beta, max_mdf, fs_min, fs_max, endpoint_weight, min_window;
    double max_window;               // 0: worked out
    Time base_target, hop_target;    // 0: worked out
    Time fs_range, endpoint_target;  // max(): worked out
    std::int64_t reset_after;
    std::int64_t initial_packets;  // 0: one bandwidth-delay product
  };

  Swift(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        mtu_bytes_(flow.mtu_bytes),
        base_target_(settings.base_target > Time() ? settings.base_target.seconds()
                                                   : fabric_rtt(flow) * kBaseShare),
        hop_target_(settings.hop_target > Time()
                        ? settings.hop_target.seconds()
                        : (fabric_rtt(flow) + flow.answer_wait.seconds()) / std::max(flow.hops, 1u)),
        fs_range_(settings.fs_range < Time::max() ? settings.fs_range.seconds() : base_target_ * kRangeBases),
        fs_alpha_(fs_range_ / (1 / std::sqrt(settings.fs_min) - 1 / std::sqrt(settings.fs_max))),
        fs_beta_(-fs_alpha_ / std::sqrt(settings.fs_max)),
        rtt_(flow.base_rtt) {
    const double pipe = static_cast<double>(flow.bdp_bytes) / mtu_bytes_;
    const double first = settings.initial_packets > 0 ? static_cast<double>(settings.initial_packets) : pipe;
    most_ = settings.max_window > 0
                ? settings.max_window
                : std::max({kWindow, kWindowBdps * pipe * longer(flow), settings.min_window,
                            static_cast<double>(settings.initial_packets)});
    fabric_.window = endpoint_.window = clamp(std::max(first, 1.0));
  }

  void start(Time) override { allow(); }

  void on_ack(const Ack& ack) override {
    timeouts_ = 0;
    rtt_ = ack.rtt;
    const double acked = static_cast<double>(ack.bytes) / mtu_bytes_;
    const bool in_use = use_.at(ack, window() * mtu_bytes_, mtu_bytes_);
    const double host = ack.host_delay.seconds();
    host_delay_ += settings_.endpoint_weight * (host - host_delay_);
    follow(fabric_, ack.rtt.seconds() - host, target(ack.hops), acked, ack.now, in_use);
    follow(endpoint_, host_delay_, settings_.endpoint_target.seconds(), acked, ack.now, in_use);
    allow();
  }
  void on_loss(const Loss& loss) override {
    timeouts_ = 0;
    for (Window* each : {&fabric_, &endpoint_}) cut(*each, 1 - settings_.max_mdf, loss.now);
    allow();
  }
  void on_timeout(const Loss& loss) override {
    ++timeouts_;
    use_.forget();
    for (Window* each : {&fabric_, &endpoint_}) {
      if (timeouts_ >= settings_.reset_after) {
        each->window = settings_.min_window;
        each->cut_at = loss.now;
      } else {
        cut(*each, 1 - settings_.max_mdf, loss.now);
      }
    }
    allow();
  }

 private:
  // The fabric and the hosts have one each, with a target of its own, and the smaller one counts. In packets.
  struct Window {
    double window = 0;
    Time cut_at = Time::ps(INT64_MIN / 2);
  };

  static double fabric_rtt(const FlowInfo& flow) { return (flow.base_rtt - flow.host_delay).seconds(); }
  // By how much the longest way that packets may take is longer than the one that the BDP is of.
  static double longer(const FlowInfo& flow) {
    return std::max(flow.longest_rtt, flow.base_rtt).seconds() /
           std::max(flow.base_rtt, Time::ps(1)).seconds();
  }
  double window() const { return std::min(fabric_.window, endpoint_.window); }
  double clamp(double packets) const { return std::clamp(packets, settings_.min_window, most_); }
  // Section 3.1: base, hops, and more for small windows, which many flows share.
  double target(std::uint32_t hops) const {
    const double scaling = fs_alpha_ / std::sqrt(fabric_.window) + fs_beta_;
    return base_target_ + hops * hop_target_ + std::clamp(scaling, 0.0, fs_range_);
  }
  void follow(Window& window, double delay, double target, double acked, Time now, bool in_use) {
    if (delay < target) {
      if (!in_use) return;
      const double step = window.window >= 1 ? acked / window.window : acked;
      window.window = clamp(window.window + settings_.increase * step);
    } else {
      const double share = 1 - settings_.beta * (delay - target) / delay;
      cut(window, std::max(share, 1 - settings_.max_mdf), now);
    }
  }
  // Once in a round trip.
  void cut(Window& window, double share, Time now) {
    if (now - window.cut_at < rtt_) return;
    window.window = clamp(window.window * share);
    window.cut_at = now;
  }
  void allow() {
    const double packets = window();
    // One packet is always allowed; fractions of one are made by spacing them.
    allowed_.window_bytes = static_cast<std::uint64_t>(std::max(packets, 1.0) * mtu_bytes_);
    allowed_.rate = {};
    if (packets < 1) {
      const double bps = packets * mtu_bytes_ * 8 / std::max(rtt_.seconds(), 1e-12);
      allowed_.rate = Bandwidth::bps(std::max<std::int64_t>(1, std::llround(bps)));
    }
  }

  const Settings& settings_;  // of the factory, which lives longer
  double mtu_bytes_;
  double most_ = 0;                                                  // packets
  double base_target_, hop_target_, fs_range_, fs_alpha_, fs_beta_;  // seconds
  Time rtt_;
  Window fabric_, endpoint_;
  WindowUse use_;
  double host_delay_ = 0;      // smoothed, seconds
  std::int64_t timeouts_ = 0;  // in a row
};

}  // namespace

const Control& swift() {
  static const Control control{
      .info =
          {.name = "swift",
           .summary = "Holds the delay of the fabric, and that of the hosts, at a target each.",
           .source = "Kumar et al., SIGCOMM 2020; constants as in htsim's Swift",
           .parameters =
               {{"base_target", ParameterType::kTime, "auto",
                 "Target delay of a path without hops; auto: a quarter of the round trip without queueing "
                 "(htsim: 20us).",
                 above("0")},
                {"hop_target", ParameterType::kTime, "auto",
                 "What each link of the path adds; auto: its share of the round trip without queueing, in "
                 "which its ACK waits for a packet (htsim: 3.05us).",
                 above("0")},
                {"fs_range", ParameterType::kTime, "auto",
                 "What flow scaling adds at most, 0: nothing; auto: 5 base_target."},
                {"fs_min", ParameterType::kReal, "0.1", "Window in packets at which it adds that.",
                 above("0")},
                {"fs_max", ParameterType::kReal, "100", "Window in packets from which it adds nothing."},
                {"ai", ParameterType::kReal, "1", "Packets added per round trip.", above("0")},
                {"beta", ParameterType::kReal, "0.8", "Share of the excess delay by which the window is cut.",
                 above("0").up_to("1")},
                {"max_mdf", ParameterType::kReal, "0.5", "Largest cut, and that of a loss.",
                 above("0").up_to("1")},
                {"endpoint_target", ParameterType::kTime, "100us", "Target of the hosts' part of the delay."},
                {"endpoint_weight", ParameterType::kReal, "0.125", "Weight of the newest delay of the hosts.",
                 above("0").up_to("1")},
                {"min_window", ParameterType::kReal, "0.01", "In packets.", above("0")},
                {"max_window", ParameterType::kReal, "auto",
                 "In packets; auto: 1000, or two bandwidth-delay products of the longest way where that is "
                 "more.",
                 from_to("1", "1e9")},
                {"reset_after", ParameterType::kInteger, "5",
                 "Timeouts in a row after which the window is the least.", at_least("1")},
                {"initial_window", ParameterType::kInteger, "0",
                 "First window in full packets; 0: one bandwidth-delay product of the path.", at_least("0")}},
           .about =
               "Goes by delay: below a target, that grows with the path's hops and as windows get small, "
               "the window grows by a packet per round trip; above it is cut by a share of the excess, "
               "once per round trip. The hosts' own delay has a window of its own. Below one packet, "
               "packets are spaced. Needs nothing of switches but time stamps in NICs. Good: large "
               "incasts, short and steady queues. Bad: targets must fit the network; a round trip late; "
               "can't tell delay on the way back from congestion."},
      .make_factory = SenderFactoryFor<Swift>::make};
  return control;
}

}  // namespace weft::congestion
