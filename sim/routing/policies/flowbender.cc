#include "sim/routing/policies/flowbender.h"

#include "sim/routing/parts/mark_share.h"

namespace weft::routing {
namespace {

struct FlowbenderSettings {
  double threshold = 0;
  std::uint32_t rounds = 0;
};

class FlowBender final : public PathSelector {
 public:
  FlowBender(const FlowbenderSettings& settings, const PathSetup& setup)
      : settings_(settings), path_(setup) {}

  Path next(const PathRequest&) override { return {path_.entropy()}; }
  void on_ack(const PathNews& news) override {
    const auto is_congested = [&](double share) { return share > settings_.threshold; };
    if (!path_.on_ack(news, is_congested) || !path_.is_due(settings_.rounds)) return;
    path_.change(news.now, MarkedPath::kRepath);
  }
  void on_timeout(Time now) override { path_.change(now, MarkedPath::kTimeoutRepath); }

 private:
  const FlowbenderSettings settings_;
  MarkedPath path_;
};

PathSelectorMaker make_flowbender(const PlanSetup& plan) {
  const Parameters& parameters = plan.parameters;
  const FlowbenderSettings settings{.threshold = parameters.real("threshold"),
                                    .rounds = parameters.whole("rounds")};
  return [settings](const PathSetup& setup) { return std::make_unique<FlowBender>(settings, setup); };
}

}  // namespace

Policy flowbender() {
  return {
      .info = {.name = "flowbender",
               .summary = "Each flow keeps one shortest path until a round trip on it was marked, or it "
                          "timed out; then it takes another.",
               .source = "A. Kabbani et al., FlowBender: flow-level adaptive routing for improved latency "
                         "and throughput in datacenter networks, CoNEXT 2014",
               .parameters = {{"threshold", ParameterType::kReal, "0.05",
                               "T: share of marked ACKs above which a round trip is congested.",
                               above("0").up_to("1")},
                              {"rounds", ParameterType::kInteger, "1",
                               "N: congested round trips in a row after which the flow takes another "
                               "path.",
                               from_to("1", "1000000")}}},
      .make_path_selectors = make_flowbender,
      .no_fluid = "by how many packets of a round trip were marked",
      .needs = {.used = Capability::kMark},
      .path_signals = MarkedPath::signals()};
}

}  // namespace weft::routing
