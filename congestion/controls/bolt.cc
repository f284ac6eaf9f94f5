#include "congestion/controls/bolt.h"

#include <algorithm>
#include <limits>

#include "congestion/controls/last_telemetry.h"

namespace weft::congestion {
namespace {

class Bolt final : public Sender {
 public:
  enum Signal : std::uint8_t { kNewPath };
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : threshold_bytes(parameters.automatic("threshold") ? 0 : parameters.bytes("threshold")),
          supply_matching(parameters.boolean("supply_matching")),
          max_window(parameters.real("max_window")),
          header_bytes(parameters.whole("header_bytes")) {}
    std::uint64_t threshold_bytes;  // 0: a full packet
    bool supply_matching;
    double max_window;
    std::uint32_t header_bytes;
  };

  Bolt(const FlowInfo& flow, const Settings& settings)
      : packet_(flow.mtu_bytes),
        threshold_(settings.threshold_bytes > 0 ? static_cast<double>(settings.threshold_bytes) : packet_),
        most_(std::max(packet_, static_cast<double>(flow.bdp_bytes) * settings.max_window)),
        window_(std::max(packet_, static_cast<double>(flow.bdp_bytes))),
        supply_matching_(settings.supply_matching),
        new_paths_(flow.signals) {}

  void start(Time now) override {
    decreased_ = grown_ = now;
    allow();
  }

  void on_ack(const Ack& ack) override {
    const bool congested = answer_queues(ack);
    if (last_.same_path(ack.telemetry)) {
      if (!congested && supply_matching_) match_supply(ack);
    } else if (!last_.empty()) {
      ++new_paths_[kNewPath];
    }
    last_.keep(ack.telemetry);
    if (ack.now - ack.rtt >= grown_) {  // one packet more, once per round trip
      window_ += packet_;
      grown_ = ack.now;
    }
    allow();
  }
  void on_loss(const Loss& loss) override {
    window_ -= static_cast<double>(loss.bytes);
    allow();
  }
  void on_timeout(const Loss&) override {
    window_ = packet_;
    allow();
  }

 private:
  // Algorithm 2, HandleSrc, for the longest queue on the way: of what is in it, the flow's part is to go in
  // one round trip, a packet at a time. True if there is a long one.
  bool answer_queues(const Ack& ack) {
    double longest_s = 0;
    const HopTelemetry* longest = nullptr;
    for (const HopTelemetry& hop : ack.telemetry) {
      const double seconds = static_cast<double>(hop.queue_bytes) * 8 / static_cast<double>(hop.rate.bps());
      if (static_cast<double>(hop.queue_bytes) < threshold_ || seconds <= longest_s) continue;
      longest_s = seconds;
      longest = &hop;
    }
    if (longest == nullptr) return false;
    const double flow_rate = window_ / ack.rtt.seconds();
    const double factor = flow_rate / (static_cast<double>(longest->rate.bps()) / 8);
    const double too_many = static_cast<double>(longest->queue_bytes) * factor / packet_;
    if ((ack.now - decreased_).seconds() * too_many >= ack.rtt.seconds()) {
      window_ -= packet_;
      decreased_ = ack.now;
    }
    return true;
  }
  // Algorithm 3 at each port: what it could have sent beyond what came to it. Of that, as much is the flow's
  // as it has of what was sent; the scarcest port counts.
  void match_supply(const Ack& ack) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < ack.telemetry.size(); ++i) {
      const HopTelemetry& now = ack.telemetry[i];
      const HopTelemetry& before = last_[i];
      const double seconds = (now.at - before.at).seconds();
      if (seconds <= 0) return;  // overtaken
      const auto sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
      const double grown = static_cast<double>(now.queue_bytes) - static_cast<double>(before.queue_bytes);
      const double spare = static_cast<double>(now.rate.bps()) / 8 * seconds - (sent + grown);
      least = std::min(least, spare * std::min(1.0, static_cast<double>(ack.bytes) / sent));
    }
    tokens_ = std::min(tokens_ + least, packet_);
    if (tokens_ < packet_) return;
    tokens_ -= packet_;
    window_ += packet_;
  }
  void allow() {
    window_ = std::clamp(window_, packet_, most_);
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
  }

  double packet_, threshold_, most_, window_;  // bytes
  double tokens_ = 0;                          // bytes of spare room not used yet
  Time decreased_, grown_;
  bool supply_matching_;
  LastTelemetry last_;
  std::uint64_t* new_paths_;
};

}  // namespace

const Control& bolt() {
  static const Control control{
      .info =
          {.name = "bolt",
           .summary =
               "Takes its part of the longest queue away, packet by packet; by telemetry (approximation).",
           .source = "S. Arslan et al., Bolt, NSDI 2023",
           .parameters = {{"threshold", ParameterType::kBytes, "auto",
                           "Queue from which the window shrinks; auto: a full packet."},
                          {"supply_matching", ParameterType::kBoolean, "true",
                           "Grow by what ports on the way could have sent and didn't."},
                          {"max_window", ParameterType::kReal, "1.25",
                           "Greatest window, in bandwidth-delay products; the first is one of them.",
                           above("0")},
                          {"header_bytes", ParameterType::kInteger, "0",
                           "By how much the header of every packet is longer: Bolt's own has flags only.",
                           from_to("0", "1024")}},
           .about = "Goes by the queues of the ports on the way. Where one holds a packet or more, "
                    "a flow takes away its part of it, one packet at a time, spread over a round "
                    "trip; where room is left, it takes its part of that, and a packet per round "
                    "trip in any case. An approximation of Bolt, whose switches tell the sender at "
                    "once by a packet of their own: here ACKs tell it, a round trip later, and "
                    "nothing is known of flows that are about to end. Needs telemetry, and a path "
                    "that stays. Good: queues of a few packets, full links. Bad: slower than Bolt "
                    "itself where incasts begin."},
      .needs = {.required = Capability::kTelemetry},
      .make_factory = SenderFactoryFor<Bolt>::make,
      .signals = {"new_path"},
      .caveat =
          "an approximation: ACKs bring what ports hold a round trip later, where Bolt's "
          "switches tell senders at once",
      .wants_one_path = [](const Parameters&) { return true; }};
  return control;
}

}  // namespace weft::congestion
