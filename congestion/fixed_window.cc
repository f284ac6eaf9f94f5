#include "congestion/fixed_window.h"

namespace weft::congestion {
namespace {

class FixedWindow final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : packets(parameters.integer("packets")) {
      if (packets < 1 || packets > 1'000'000'000)
        parameters.fail("packets", "it must be from 1 to 1000000000");
    }
    std::int64_t packets;
  };
  FixedWindow(const FlowInfo& flow, const Settings& settings)
      : window_bytes_(static_cast<std::uint64_t>(settings.packets) * flow.mtu_bytes) {}
  Allowance start() override { return {window_bytes_, {}}; }
  Allowance on_ack(const Ack&) override { return {window_bytes_, {}}; }
  Allowance on_loss(Time, std::uint64_t) override { return {window_bytes_, {}}; }
  Allowance on_timeout(Time) override { return {window_bytes_, {}}; }

 private:
  std::uint64_t window_bytes_;
};

}  // namespace

const Control& fixed_window() {
  static const Control control{
      .info = {.name = "fixed_window",
               .summary = "A constant number of packets in flight; no reaction to marks or losses.",
               .source = "textbook sliding window",
               .parameters = {{"packets", ParameterType::kInteger, "100",
                               "Window in full packets, at least 1."}}},
      .needs_ecn = false,
      .make_factory = SenderFactoryFor<FixedWindow>::make};
  return control;
}

}  // namespace weft::congestion
