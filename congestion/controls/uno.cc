#include "congestion/controls/uno.h"

#include <algorithm>

namespace weft::congestion {
namespace {

class Uno final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : epoch(parameters.time("epoch")),
          increase(parameters.real("increase")),
          mark_gain(parameters.real("mark_gain")),
          threshold_bytes(parameters.automatic("threshold") ? 0 : parameters.bytes("threshold")),
          phantom_share(parameters.real("phantom_share")),
          phantom_delay(parameters.real("phantom_delay")),
          adapt_below(parameters.real("adapt_below")),
          adapt_to(parameters.real("adapt_to")),
          max_window(parameters.real("max_window")) {}
    Time epoch;
    double increase, mark_gain;
    std::uint64_t threshold_bytes;  // 0: from the epoch
    double phantom_share, phantom_delay, adapt_below, adapt_to, max_window;
  };

  Uno(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        packet_(flow.mtu_bytes),
        pipe_(std::max(packet_, static_cast<double>(flow.bdp_bytes))),
        window_(pipe_),
        answer_wait_(flow.answer_wait),
        round_trip_(flow.base_rtt + flow.answer_wait) {
    const double within = static_cast<double>(flow.line_rate.bps()) / 8 * settings.epoch.seconds();
    const double k =
        settings.threshold_bytes > 0 ? static_cast<double>(settings.threshold_bytes) : within / 7;
    decrease_ = std::min(1.0, 4 * k / (pipe_ + k));
  }

  void start(Time now) override {
    epoch_end_ = now;
    adapt_from_ = now;
    adapt_at_ = Time::max();
    allow();
  }

  void on_ack(const Ack& ack) override {
    const auto bytes = static_cast<double>(ack.bytes);
    const Time sent = ack.now - ack.rtt;
    if (!ack.ecn_marked) grow(bytes);
    limited_ = limited_ && static_cast<double>(ack.in_flight) + bytes + packet_ >= window_;
    if (sent >= adapt_from_) {
      acked_ += bytes;
      if (ack.ecn_marked) marked_ += bytes;
      quick_adapt(ack.now, bytes);
      if (sent >= epoch_end_) end_epoch(ack);
    }
    allow();
  }
  void on_loss(const Loss& loss) override {
    window_ -= static_cast<double>(loss.bytes);
    allow();
  }
  void on_timeout(const Loss& loss) override { on_loss(loss); }

 private:
  void grow(double acked_bytes) { window_ += settings_.increase * pipe_ * acked_bytes / window_; }

  // An epoch takes the same time for all connections, however long their round trips.
  void end_epoch(const Ack& ack) {
    const double share = acked_ > 0 ? marked_ / acked_ : 0;
    const double before = average_;
    average_ += settings_.mark_gain * (share - average_);
    if (marked_ > 0) {
      if (before > 0 && average_ <= 0.9 && average_ < before) {
        grow(acked_);  // the virtual queue is getting shorter
      } else {
        const Time base = round_trip_ - answer_wait_;
        const bool phantom_only =
            (ack.rtt - answer_wait_).seconds() <= base.seconds() * settings_.phantom_delay;
        window_ *= 1 - average_ * decrease_ * (phantom_only ? settings_.phantom_share : 1);
      }
    }
    acked_ = marked_ = 0;
    // Epochs without an ACK are over.
    epoch_end_ = std::max(epoch_end_ + settings_.epoch, ack.now - ack.rtt);
  }

  // Once per round trip: where much less than the window comes through, the window is that. What was sent
  // before says nothing of it.
  void quick_adapt(Time now, double bytes) {
    if (adapt_at_ == Time::max()) {  // it begins now
      adapt_at_ = now + round_trip_;
      limited_ = true;
      came_through_ = 0;
      return;
    }
    came_through_ += bytes;
    if (now < adapt_at_) return;
    // Packets are whole: a window may have come back but for one.
    if (limited_ && came_through_ + packet_ < settings_.adapt_below * window_) {
      window_ = came_through_ * settings_.adapt_to;
      average_ = acked_ = marked_ = 0;
      adapt_from_ = epoch_end_ = now;
      adapt_at_ = Time::max();
      return;
    }
    adapt_at_ = now + round_trip_;
    came_through_ = 0;
    limited_ = true;
  }
  void allow() {
    window_ = std::clamp(window_, packet_, pipe_ * settings_.max_window);
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
    allowed_.rate = Bandwidth::bps(static_cast<std::int64_t>(window_ * 8 / round_trip_.seconds()));
  }

  Settings settings_;
  double packet_, pipe_;  // bytes: a full packet, a bandwidth-delay product
  double decrease_ = 0;   // for an epoch in which all is marked
  double window_;
  double average_ = 0;             // of the epochs' shares of marked bytes
  double acked_ = 0, marked_ = 0;  // bytes, in this epoch
  double came_through_ = 0;        // bytes, since the last quick_adapt()
  Time answer_wait_, round_trip_;  // round_trip_: in which an ACK waits as long
  Time epoch_end_;
  Time adapt_from_, adapt_at_;  // from which packets on it counts what comes through, and until when
  bool limited_ = true;         // the window has been what limits the sender
};

}  // namespace

const Control& uno() {
  static const Control control{
      .info =
          {.name = "uno",
           .summary =
               "Reacts equally often within and between datacenters; tells phantom queues from real ones.",
           .source = "T. Bonato et al., Uno, SC 2025, and its artifact",
           .parameters =
               {{"epoch", ParameterType::kTime, "14us",
                 "How often the window may shrink: a round trip within a datacenter, the same "
                 "for all flows.",
                 above("0")},
                {"increase", ParameterType::kReal, "0.001",
                 "What the window grows in a round trip, in bandwidth-delay products.", above("0")},
                {"mark_gain", ParameterType::kReal, "0.65", "Weight of the newest epoch's share of marks.",
                 above("0").up_to("1")},
                {"threshold", ParameterType::kBytes, "auto",
                 "Threshold K, the same for all flows: an epoch with marks only takes 4 K / (BDP + K) off;"
                 " auto: a seventh of what the line sends in an epoch."},
                {"phantom_share", ParameterType::kReal, "0.35",
                 "Share of that where round trips show no queue, and marks are the virtual queue's.",
                 from_to("0", "1")},
                {"phantom_delay", ParameterType::kReal, "1.055",
                 "Round trips up to so many times those without queues, and an ACK's wait for a "
                 "packet at each link, show none.",
                 at_least("1")},
                {"adapt_below", ParameterType::kReal, "0.5",
                 "Where less than this share of the window comes through in a round trip, the window jumps.",
                 from_to("0", "1")},
                {"adapt_to", ParameterType::kReal, "0.96",
                 "What it jumps to, as a share of what came through.", from_to("0", "1")},
                {"max_window", ParameterType::kReal, "1", "Greatest window, in bandwidth-delay products.",
                 above("0")}},
           .about = "Goes by marks, counted over epochs of one length for all flows, so that flows "
                    "between datacenters react as often as those within one; increases are in "
                    "proportion to the bandwidth-delay product. Marks without a longer round trip "
                    "come from a phantom queue and are answered more mildly. Once per round trip "
                    "the window jumps to what comes through, if that is much less. Needs marks; "
                    "made for the queue discipline phantom, recovery by erasure_coding (its default "
                    "blocks) and routing by reps. Good: short queues with round trips a "
                    "hundred times apart. Bad: grows slowly, a thousandth per round trip; the epoch"
                    " must fit the datacenter."},
      .needs = {.required = Capability::kMark},
      .make_factory = SenderFactoryFor<Uno>::make,
      .queue = "phantom"};
  return control;
}

}  // namespace weft::congestion
