#include "sim/routing/policies/flowbender.h"

#include "sim/routing/policies/mark_share.h"

namespace weft::routing {
namespace {

struct Settings {
  double threshold = 0;
  std::uint32_t rounds = 0;
};

class FlowBender final : public PathSelector {
 public:
  FlowBender(const Settings& settings, const PathSetup& setup)
      : settings_(settings), random_(setup.random), signals_(setup.signals) {
    entropy_ = static_cast<std::uint32_t>(random_.next());
  }

  Path next(const PathRequest&) override { return {entropy_}; }
  void on_ack(const PathNews& news) override {
    // Of an earlier path: it says nothing of this one.
    if (news.path.entropy != entropy_) return;
    const std::optional<double> share = marks_.on_ack(news);
    if (!share) return;
    congested_ = *share > settings_.threshold ? congested_ + 1 : 0;
    if (congested_ < settings_.rounds) return;
    ++signals_[0];
    repath(news.now);
  }
  void on_timeout(Time now) override {
    ++signals_[1];
    repath(now);
  }

 private:
  void repath(Time now) {
    entropy_ = static_cast<std::uint32_t>(random_.next());
    marks_.restart(now);
    congested_ = 0;
  }

  const Settings settings_;
  sim::RandomStream random_;
  std::uint64_t* signals_;
  MarkShare marks_;
  std::uint32_t congested_ = 0;  // round trips in a row
  std::uint32_t entropy_ = 0;
};

PathSelectorMaker make(const PlanSetup& plan) {
  const Parameters& parameters = plan.parameters;
  const std::int64_t rounds = parameters.integer("rounds");
  if (rounds < 1 || rounds > 1'000'000) parameters.fail("rounds", "it must be from 1 to 1000000");
  const Settings settings{.threshold = MarkShare::threshold(parameters, "threshold"),
                          .rounds = static_cast<std::uint32_t>(rounds)};
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
                               "T: share of marked ACKs above which a round trip is congested: above 0, "
                               "up to 1."},
                              {"rounds", ParameterType::kInteger, "1",
                               "N: congested round trips in a row after which the flow takes another "
                               "path."}}},
      .make_path_selectors = make,
      .needs = {.used = Capability::kMark},
      .path_signals = {"repath", "timeout_repath"}};
}

}  // namespace weft::routing
