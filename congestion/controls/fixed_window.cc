#include "congestion/controls/fixed_window.h"

#include <algorithm>

namespace weft::congestion {
namespace {

class FixedWindow final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : automatic(parameters.automatic("packets")),
          packets(automatic ? 100 : parameters.integer("packets")) {}
    bool automatic;
    std::int64_t packets;
  };
  FixedWindow(const FlowInfo& flow, const Settings& settings) {
    allowed_.window_bytes = static_cast<std::uint64_t>(settings.packets) * flow.mtu_bytes;
    if (!settings.automatic) return;
    // Networks without congestion control have no windows: these keep no link idle. Receivers that
    // acknowledge several packets at once (ack_every) hold back the ACKs of up to an eighth of a window, as
    // senders ask for eight in each.
    constexpr double kAnswered = 7.0 / 8;
    const Time longest = std::max(flow.longest_rtt, flow.base_rtt);
    const double bdp = static_cast<double>(flow.bdp_bytes) * longest.seconds() /
                       std::max(flow.base_rtt, Time::ps(1)).seconds();
    allowed_.window_bytes = std::max(allowed_.window_bytes, static_cast<std::uint64_t>(bdp / kAnswered));
  }
  void start(Time) override {}
  void on_ack(const Ack&) override {}
  void on_loss(const Loss&) override {}
  void on_timeout(const Loss&) override {}
};

}  // namespace

const Control& fixed_window() {
  static const Control control{
      .info = {.name = "fixed_window",
               .summary = "A constant number of packets in flight; no reaction to marks or losses.",
               .source = "textbook sliding window",
               .parameters = {{"packets", ParameterType::kInteger, "auto",
                               "Window in full packets; auto: 100, or 8/7 of a bandwidth-delay product of "
                               "the longest way, for ACKs held back, where that is more.",
                               from_to("1", "1000000000")}},
               .about =
                   "Goes by nothing: so many packets are in flight, whatever happens. Good as a yardstick, "
                   "and for networks that can't be congested. Bad wherever links are shared: queues fill "
                   "and overflow, or lossless links pause."},
      .make_factory = SenderFactoryFor<FixedWindow>::make};
  return control;
}

}  // namespace weft::congestion
