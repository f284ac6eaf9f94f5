#include "congestion/controls/hpcc.h"

#include <algorithm>

#include "congestion/controls/last_telemetry.h"
#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

class Hpcc final : public Sender {
 public:
  enum Signal : std::uint8_t { kNewPath };
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : target(parameters.real("target")),
          max_stage(parameters.integer("max_stage")),
          flows(parameters.real("flows")),
          round_trip(time_or_zero(parameters, "base_rtt")),
          min_rate(parameters.bandwidth("min_rate")),
          header_bytes(parameters.whole("telemetry_bytes")) {}
    double target;
    std::int64_t max_stage;
    double flows;
    Time round_trip;  // 0: the connection's
    Bandwidth min_rate;
    std::uint32_t header_bytes;
  };

  Hpcc(const FlowInfo& flow, const Settings& settings)
      : target_(settings.target),
        round_trip_s_(telemetry_round_trip(flow, settings.round_trip).seconds()),
        most_(line_window(flow, settings.round_trip)),
        least_(std::min(most_, static_cast<double>(settings.min_rate.bps()) / 8 * round_trip_s_)),
        step_(most_ * (1 - target_) / settings.flows),
        reference_(most_),
        max_stage_(settings.max_stage),
        new_paths_(flow.signals) {}

  void start(Time now) override {
    updated_ = now;
    allow(most_);
  }

  void on_ack(const Ack& ack) override {
    if (last_.same_path(ack.telemetry)) {
      measure(ack.telemetry);
      const bool sent_since = ack.now - ack.rtt >= updated_;
      change_window(sent_since);
      if (sent_since) updated_ = ack.now;
    } else if (!last_.empty()) {
      ++new_paths_[kNewPath];
    }
    last_.keep(ack.telemetry);
  }
  void on_loss(const Loss&) override {}
  // Nothing is known of the path any more.
  void on_timeout(const Loss&) override {
    reference_ = least_;
    stage_ = 0;
    allow(reference_);
  }

 private:
  // Algorithm 1, MeasureInflight.
  void measure(std::span<const HopTelemetry> hops) {
    double most = 0, over_s = 0;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const HopTelemetry& now = hops[i];
      const HopTelemetry& before = last_[i];
      const double seconds = (now.at - before.at).seconds();
      if (seconds <= 0) continue;  // overtaken
      const double bytes_per_s = static_cast<double>(now.rate.bps()) / 8;
      const auto queue = static_cast<double>(std::min(now.queue_bytes, before.queue_bytes));
      const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes) / seconds;
      const double full = queue / (bytes_per_s * round_trip_s_) + sent / bytes_per_s;
      if (full > most) {
        most = full;
        over_s = seconds;
      }
    }
    const double share = std::min(1.0, over_s / round_trip_s_);
    utilization_ = (1 - share) * utilization_ + share * most;
  }
  // ComputeWind.
  void change_window(bool sets_reference) {
    const bool multiplies = utilization_ >= target_ || stage_ >= max_stage_;
    double window = reference_ + step_;
    if (multiplies) window = reference_ / (std::max(utilization_, kLeastUtilization) / target_) + step_;
    window = std::clamp(window, least_, most_);
    if (sets_reference) {
      stage_ = multiplies ? 0 : stage_ + 1;
      reference_ = window;
    }
    allow(window);
  }
  void allow(double window) {
    allowed_.window_bytes = static_cast<std::uint64_t>(std::max(window, 1.0));
    allowed_.rate = Bandwidth::bps(static_cast<std::int64_t>(window * 8 / round_trip_s_));
  }

  static constexpr double kLeastUtilization = 1e-3;  // where the path was idle

  double target_, round_trip_s_;
  double most_, least_, step_;  // of the window, bytes
  double reference_;            // the paper's W^c
  double utilization_ = 1;      // U
  std::int64_t max_stage_, stage_ = 0;
  Time updated_;
  LastTelemetry last_;
  std::uint64_t* new_paths_;
};

}  // namespace

const Control& hpcc() {
  static const Control control{
      .info = {.name = "hpcc",
               .summary = "Keeps the fullest link on the way at 95 % by in-band telemetry.",
               .source = "Y. Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019",
               .parameters =
                   {{"target", ParameterType::kReal, "0.95", "Utilization eta of the fullest link.",
                     above("0").under("1")},
                    {"max_stage", ParameterType::kInteger, "5",
                     "Round trips of additive increase in a row before the window is set by "
                     "utilization anyway; 0: always.",
                     at_least("0")},
                    {"flows", ParameterType::kReal, "10",
                     "Flows N expected to share a link: each adds bandwidth-delay product (1 - target) / N.",
                     above("0")},
                    {"base_rtt", ParameterType::kTime, "auto",
                     "Round trip T without queues; auto: the connection's own, in "
                     "which its ACK waits for a packet at each link.",
                     above("0")},
                    {"min_rate", ParameterType::kBandwidth, "100Mbps", "Least rate of a connection.",
                     above("0")},
                    {"telemetry_bytes", ParameterType::kInteger, "42",
                     "By how much telemetry makes every header longer: five hops of 8 bytes and 2 more.",
                     from_to("0", "1024")}},
               .about = "Goes by what every switch writes into packets as they leave: queue, bytes "
                        "sent, rate. The window is set each ACK so that the fullest link would be 95 % "
                        "busy, from a reference that changes once per round trip, and packets are "
                        "spaced. Needs telemetry, and a path that stays: with packets sprayed over "
                        "paths there is nothing to compare. Good: queues near zero, fast to react, few "
                        "settings. Bad: 5 % and 42 bytes a packet are given away; new flows start at "
                        "line rate; fairness comes slowly."},
      .needs = {.required = Capability::kTelemetry},
      .make_factory = SenderFactoryFor<Hpcc>::make,
      .signals = {"new_path"},
      .wants_one_path = [](const Parameters&) { return true; }};
  return control;
}

}  // namespace weft::congestion
