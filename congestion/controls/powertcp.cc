#include "congestion/controls/powertcp.h"

#include <algorithm>

#include "congestion/controls/last_telemetry.h"
#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

class PowerTcp final : public Sender {
 public:
  enum Signal : std::uint8_t { kNewPath };
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : by_delay(parameters.text("signal") == "delay"),
          gain(parameters.real("gain")),
          flows(parameters.real("flows")),
          round_trip(time_or_zero(parameters, "base_rtt")) {
      const std::uint32_t header = parameters.whole("telemetry_bytes");
      if (!by_delay) header_bytes = header;
    }
    bool by_delay;
    double gain, flows;
    Time round_trip;  // 0: the connection's
    std::uint32_t header_bytes = 0;
  };

  PowerTcp(const FlowInfo& flow, const Settings& settings)
      : gain_(settings.gain),
        round_trip_s_(telemetry_round_trip(flow, settings.round_trip).seconds()),
        most_(line_window(flow, settings.round_trip)),
        step_(most_ / settings.flows),
        least_(flow.mtu_bytes),
        window_(most_),
        old_(most_),
        by_delay_(settings.by_delay),
        new_paths_(flow.signals) {}

  void start(Time now) override {
    updated_ = now;
    last_rtt_ = Time();
    allow();
  }

  void on_ack(const Ack& ack) override {
    if (by_delay_) return on_delay(ack);
    const bool known = last_.same_path(ack.telemetry);
    if (known) {
      smooth(ack.telemetry);
      change_window();
    } else if (!last_.empty()) {
      ++new_paths_[kNewPath];
    }
    last_.keep(ack.telemetry);
    if (known && ack.now - ack.rtt >= updated_) {  // UpdateOld, once per round trip
      old_ = window_;
      updated_ = ack.now;
    }
  }
  void on_loss(const Loss&) override {}
  void on_timeout(const Loss&) override {
    window_ = old_ = least_;
    allow();
  }

 private:
  // Algorithm 1, NormPower: current (bytes that arrive) × voltage (bytes in pipe and queue), over what they
  // are when a full link has no queue.
  void smooth(std::span<const HopTelemetry> hops) {
    double most = 0, over_s = 0;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const HopTelemetry& now = hops[i];
      const HopTelemetry& before = last_[i];
      const double seconds = (now.at - before.at).seconds();
      if (seconds <= 0) continue;  // overtaken
      const double bytes_per_s = static_cast<double>(now.rate.bps()) / 8;
      const auto queue = static_cast<double>(now.queue_bytes);
      const double grown = queue - static_cast<double>(before.queue_bytes);
      const double current = (grown + static_cast<double>(now.sent_bytes - before.sent_bytes)) / seconds;
      const double pipe = bytes_per_s * round_trip_s_;
      const double power = current * (queue + pipe) / (bytes_per_s * pipe);
      if (power > most) {
        most = power;
        over_s = seconds;
      }
    }
    add_power(most, over_s);
  }
  // Algorithm 2: everything once per round trip.
  void on_delay(const Ack& ack) {
    if (ack.now - ack.rtt < updated_) return;
    const double seconds = (ack.now - updated_).seconds();
    if (last_rtt_ > Time() && seconds > 0) {
      const double slope = (ack.rtt - last_rtt_).seconds() / seconds;
      add_power((slope + 1) * ack.rtt.seconds() / round_trip_s_, seconds);
      change_window();
    }
    old_ = window_;
    last_rtt_ = ack.rtt;
    updated_ = ack.now;
  }
  void add_power(double power, double over_s) {
    const double share = std::min(1.0, over_s / round_trip_s_);
    power_ = (1 - share) * power_ + share * power;
  }
  // UpdateWindow.
  void change_window() {
    const double to = old_ / std::max(power_, kLeastPower) + step_;
    window_ = std::clamp(gain_ * to + (1 - gain_) * window_, least_, most_);
    allow();
  }
  void allow() {
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
    allowed_.rate = Bandwidth::bps(static_cast<std::int64_t>(window_ * 8 / round_trip_s_));
  }

  static constexpr double kLeastPower = 1e-3;  // where the path was idle

  double gain_, round_trip_s_;
  double most_, step_, least_;  // of the window, bytes
  double window_, old_;         // now, and a round trip ago
  double power_ = 1;            // smoothed; 1: a full link without a queue
  bool by_delay_;
  Time updated_, last_rtt_;
  LastTelemetry last_;
  std::uint64_t* new_paths_;
};

}  // namespace

const Control& powertcp() {
  static const Control control{
      .info = {.name = "powertcp",
               .summary = "Sets the window by the bottleneck's power: its queue times what arrives there.",
               .source = "V. Addanki et al., PowerTCP, NSDI 2022",
               .parameters = {{"signal", ParameterType::kText, "telemetry",
                               "By telemetry, as in algorithm 1; or delay: round trips alone "
                               "(theta-PowerTCP, algorithm 2).",
                               one_of({"telemetry", "delay"})},
                              {"gain", ParameterType::kReal, "0.9", "Weight gamma of a new window.",
                               above("0").up_to("1")},
                              {"flows", ParameterType::kReal, "10",
                               "Flows N expected to share a link: each adds bandwidth-delay product / N.",
                               above("0")},
                              {"base_rtt", ParameterType::kTime, "auto",
                               "Round trip tau without queues; auto: the connection's own, in "
                               "which its ACK waits for a packet at each link.",
                               above("0")},
                              {"telemetry_bytes", ParameterType::kInteger, "42",
                               "By how much telemetry makes every header longer; none with signal=delay.",
                               from_to("0", "1024")}},
               .about = "Goes by power: the bytes in pipe and queue of the most loaded link times the "
                        "rate at which bytes come to it, from telemetry in packets, or from round trips"
                        " and their slope. The window of a round trip ago is divided by it, and each "
                        "flow adds a fixed share. So it answers to a queue and to its growth at once. "
                        "Needs telemetry (asked for with signal=delay too), and a path that stays. "
                        "Good: incasts are over in a round trip, full links. Bad: n flows hold a queue "
                        "of n/N bandwidth-delay products; by delay it reacts once per round trip, and "
                        "can't tell where the queue is."},
      .needs = {.required = Capability::kTelemetry},
      .make_factory = SenderFactoryFor<PowerTcp>::make,
      .signals = {"new_path"},
      .wants_one_path = [](const Parameters& parameters) {
        return parameters.text("signal") == "telemetry";
      }};
  return control;
}

}  // namespace weft::congestion
