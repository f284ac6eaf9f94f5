#include "congestion/controls/timely.h"

#include <algorithm>

#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

// The paper has 50 us and 500 us, at 20 us of least round trip: their ratio is kept. Between the shortest
// round trip and T_low it had room for bursts of 64 KB from a NIC that doesn't space packets, which isn't
// needed.
constexpr double kLowShare = 1.5;
constexpr double kHighShare = 10;
constexpr double kStepShare = 1e-3;   // 10 Mb/s at 10 Gb/s
constexpr double kFloorShare = 1e-2;  // 1 Gb/s at 100 Gb/s: the simulator of HPCC

class Timely final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : patched(parameters.text("variant") == "patched"),
          weight(parameters.real("weight")),
          beta(parameters.automatic("beta") ? (patched ? 0.008 : 0.8) : parameters.real("beta")),
          loss_decrease(parameters.real("loss_decrease")),
          initial_rate(parameters.real("initial_rate")),
          hai_after(parameters.integer("hai_after")),
          hai_factor(parameters.integer("hai_factor")),
          step(rate_or_zero(parameters, "step")),
          min_rate(rate_or_zero(parameters, "min_rate")),
          t_low(time_or_zero(parameters, "t_low")),
          t_high(time_or_zero(parameters, "t_high")),
          min_rtt(time_or_zero(parameters, "min_rtt")),
          segment(parameters.bytes("segment")) {
      if (t_low > Time() && t_high > Time() && t_low >= t_high) {
        parameters.fail("t_high", "it must be above t_low");
      }
    }
    bool patched;
    double weight, beta, loss_decrease, initial_rate;
    std::int64_t hai_after, hai_factor;
    Bandwidth step, min_rate;
    Time t_low, t_high, min_rtt;  // 0: worked out
    std::uint64_t segment;
  };

  Timely(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        line_bps_(static_cast<double>(flow.line_rate.bps())),
        min_bps_(settings.min_rate.bps() > 0
                     ? std::min(static_cast<double>(settings.min_rate.bps()), line_bps_)
                     : line_bps_ * kFloorShare),
        step_bps_(settings.step.bps() > 0 ? static_cast<double>(settings.step.bps())
                                          : line_bps_ * kStepShare),
        min_rtt_(settings.min_rtt > Time() ? settings.min_rtt.seconds() : flow.base_rtt.seconds()),
        t_low_(settings.t_low > Time() ? settings.t_low.seconds() : min_rtt_ * kLowShare),
        t_high_(settings.t_high > Time() ? settings.t_high.seconds() : t_low_ * kHighShare),
        base_rtt_(flow.base_rtt),
        host_delay_(flow.host_delay),
        segment_(whole_packets(settings.segment, flow.mtu_bytes)),
        rate_bps_(line_bps_ * settings.initial_rate) {
    allowed_.window_bytes = kNoWindow;
  }

  void start(Time) override { allow(); }

  void on_ack(const Ack& ack) override {
    // What the receiver held the ACK back for is no sign of a queue.
    const double rtt = (ack.rtt - std::max(Time(), ack.host_delay - host_delay_)).seconds();
    acked_ += ack.bytes;
    if (acked_ < segment_) return;
    const std::uint64_t events = settings_.segment > 0 ? acked_ / segment_ : 1;
    acked_ = settings_.segment > 0 ? acked_ % segment_ : 0;
    complete(rtt, events);
    allow();
  }

  // Not in the paper, whose network loses nothing. Once a round trip.
  void on_loss(const Loss& loss) override {
    if (loss.now < calm_until_) return;
    calm_until_ = loss.now + base_rtt_;
    rate_bps_ *= 1 - settings_.loss_decrease;
    allow();
  }
  void on_timeout(const Loss& loss) override { on_loss(loss); }

 private:
  // An ACK may be of several segments: round trips went evenly from the last one's to its own, and each has
  // its completion event. More than a few of them say nothing new.
  void complete(double rtt, std::uint64_t events) {
    constexpr std::uint64_t kMost = 64;
    if (last_rtt_ == 0) last_rtt_ = rtt;
    for (std::uint64_t left = std::min(events, kMost); left > 0; --left) {
      update(last_rtt_ + (rtt - last_rtt_) / static_cast<double>(left));
    }
  }
  void update(double rtt) {
    rtt_diff_ = (1 - settings_.weight) * rtt_diff_ + settings_.weight * (rtt - last_rtt_);
    last_rtt_ = rtt;
    const double gradient = rtt_diff_ / min_rtt_;
    falling_ = gradient <= 0 ? falling_ + 1 : 0;
    if (rtt < t_low_) {
      rate_bps_ += step_bps_;
    } else if (rtt > t_high_) {
      rate_bps_ *= 1 - settings_.beta * (1 - t_high_ / rtt);
    } else if (settings_.patched) {
      const double share = std::clamp(2 * gradient + 0.5, 0.0, 1.0);
      const double excess = (rtt - t_low_) / t_low_;
      rate_bps_ = step_bps_ * (1 - share) + rate_bps_ * (1 - settings_.beta * share * excess);
    } else if (gradient <= 0) {
      const bool hyper = falling_ >= settings_.hai_after;
      rate_bps_ += step_bps_ * static_cast<double>(hyper ? settings_.hai_factor : 1);
    } else {
      rate_bps_ *= 1 - settings_.beta * gradient;
    }
  }
  static std::uint64_t whole_packets(std::uint64_t bytes, std::uint64_t mtu) {
    return bytes / mtu * mtu + (bytes % mtu != 0 ? mtu : 0);
  }
  void allow() {
    rate_bps_ = std::clamp(rate_bps_, min_bps_, line_bps_);
    allowed_.rate = Bandwidth::bps(static_cast<std::int64_t>(rate_bps_));
  }

  const Settings& settings_;  // of the factory, which lives longer
  double line_bps_, min_bps_, step_bps_;
  double min_rtt_, t_low_, t_high_;  // seconds
  Time base_rtt_, host_delay_, calm_until_;
  std::uint64_t segment_;  // bytes, in whole packets
  double rate_bps_;
  double last_rtt_ = 0, rtt_diff_ = 0;  // seconds
  std::int64_t falling_ = 0;            // completion events in a row whose slope was not positive
  std::uint64_t acked_ = 0;             // bytes of the present segment
};

}  // namespace

const Control& timely() {
  static const Control control{
      .info =
          {.name = "timely",
           .summary = "Sets a rate by the slope of round trips, as TIMELY does.",
           .source = "Mittal et al., SIGCOMM 2015, algorithm 1; Zhu et al., CoNEXT 2016, table 2",
           .parameters =
               {{"variant", ParameterType::kText, "paper",
                 "With patched, Zhu et al.'s, which ends in even shares; sets beta.",
                 one_of({"paper", "patched"})},
                {"weight", ParameterType::kReal, "0.875",
                 "Weight alpha of the newest difference of round trips.", above("0").up_to("1")},
                {"beta", ParameterType::kReal, "auto", "Decrease factor; auto: 0.8, patched 0.008.",
                 above("0").under("1")},
                {"step", ParameterType::kBandwidth, "auto",
                 "Additive step delta; auto: a thousandth of the line rate, 10 Mb/s at 10 Gb/s.", above("0")},
                {"hai_after", ParameterType::kInteger, "5",
                 "Falling round trips in a row, in segments, after which steps are larger.", at_least("1")},
                {"hai_factor", ParameterType::kInteger, "5", "How many times larger: N.", at_least("1")},
                {"t_low", ParameterType::kTime, "auto",
                 "Below it the rate rises whatever the slope; auto: 1.5 times min_rtt (paper: 50us).",
                 above("0")},
                {"t_high", ParameterType::kTime, "auto",
                 "Above it the rate falls whatever the slope; auto: 10 times t_low (paper: 500us).",
                 above("0")},
                {"min_rtt", ParameterType::kTime, "auto",
                 "What the slope is measured in; auto: the round trip without queueing (paper: 20us).",
                 above("0")},
                {"segment", ParameterType::kBytes, "16KB",
                 "Bytes acknowledged between two updates; 0: every ACK is one."},
                {"initial_rate", ParameterType::kReal, "1", "First rate as a share of the line rate.",
                 above("0").up_to("1")},
                {"min_rate", ParameterType::kBandwidth, "auto",
                 "The rate never falls below; auto: a hundredth of the line rate, from which steps for each "
                 "segment lead back soon.",
                 at_least("1Mbps")},
                {"loss_decrease", ParameterType::kReal, "0.5",
                 "Share by which a loss cuts the rate, once a round trip; 0 as in the paper, whose "
                 "network loses nothing.",
                 at_least("0").under("1")}},
           .about = "Goes by round trips, which NICs measure: a rate rises by steps while they are short or "
                    "don't grow, and falls in proportion to their slope, or to how long they are. Needs "
                    "nothing of switches; made for lossless networks, and halves its rate once a round trip "
                    "where packets are lost. Good: no switch support, few settings. Bad: shares of flows and "
                    "the length of the queue are not determined by it (many pairs of both are stable), "
                    "so flows that start at different times stay unequal for long; no limit on what is in "
                    "flight."},
      .needs = {.used = Capability::kLossless},
      .make_factory = SenderFactoryFor<Timely>::make,
      .caveat =
          "slow to come back from its first cut, which leaves a hundredth of the line rate: of two flows of "
          "4 MB at 100 Gb/s that begin together, a link stays 70% idle, and 6% at 400 MB",
      .wants_every_ack = true};
  return control;
}

}  // namespace weft::congestion
