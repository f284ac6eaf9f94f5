#include "sim/routing/policies/wcmp.h"

#include <memory>
#include <utility>

#include "sim/routing/parts/weights.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

class Wcmp final : public SwitchPolicy {
 public:
  Wcmp(WeightedDraw draw, std::uint64_t salt) : salt_(salt), draw_(std::move(draw)) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    return {.port = draw_.pick(packet.destination, minimal, hash_word(packet.entropy, salt_))};
  }

 private:
  const std::uint64_t salt_;  // first: with what a choice reads of draw_ in the lines that are fetched ahead
  WeightedDraw draw_;
};

class WcmpPlan final : public SwitchPlan {
 public:
  explicit WcmpPlan(const PlanSetup& setup) : weights_(setup), seed_(setup.seed) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    WeightedDraw draw(weights_, weights_.topology().switch_at(switch_index));
    return std::make_unique<Wcmp>(std::move(draw), switch_salt(seed_, switch_index));
  }
  void set_rate_shares(std::span<const double> rate_shares) override {
    weights_.set_rate_shares(rate_shares);
  }
  void reconverge(const std::vector<bool>& down_links) override { weights_.repair(down_links); }

 private:
  PathWeights weights_;
  const std::uint64_t seed_;
};

}  // namespace

Policy wcmp() {
  return {.info = {.name = "wcmp",
                   .summary = "Each flow keeps one shortest path, with odds in proportion to what the paths "
                              "can carry.",
                   .source = "J. Zhou et al., WCMP: weighted cost multipathing for improved fairness in data "
                             "centers, EuroSys 2014",
                   .parameters = {}},
          .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
            return std::make_unique<WcmpPlan>(setup);
          },
          .make_paths = weighted_paths,
          .fluid = FluidPaths::kOne,
          .rate_news = RateNews::kWithRoutes,
          .asks = {.ahead = true},
          .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
