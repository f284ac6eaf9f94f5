#include "sim/routing/policies/switch_spray.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/routing/parts/weights.h"

namespace weft::routing {
namespace {

class RandomSpray final : public SwitchPolicy {
 public:
  explicit RandomSpray(sim::RandomStream random) : random_(random) {}
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    return {.port = minimal[random_.below(minimal.size())]};
  }

 private:
  sim::RandomStream random_;
};

class TurnSpray final : public SwitchPolicy {
 public:
  explicit TurnSpray(sim::RandomStream random) : random_(random) {}
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    // Sets that agree in their ends and size share a turn, which names places in them.
    Turn& turn =
        turns_[std::uint64_t{minimal.front()} << 40 | std::uint64_t{minimal.back()} << 16 | minimal.size()];
    if (turn.next == turn.order.size()) begin(turn, minimal.size());
    return {.port = minimal[turn.order[turn.next++]]};
  }

 private:
  struct Turn {
    std::vector<std::uint16_t> order;
    std::size_t next = 0;
  };
  void begin(Turn& turn, std::size_t ports) {
    if (turn.order.empty()) {
      turn.order.resize(ports);
      std::iota(turn.order.begin(), turn.order.end(), 0);
    }
    for (std::size_t left = ports; left > 1; --left) {
      std::swap(turn.order[left - 1], turn.order[random_.below(left)]);
    }
    turn.next = 0;
  }

  sim::RandomStream random_;
  std::unordered_map<std::uint64_t, Turn> turns_;
};

class WeightedSpray final : public SwitchPolicy {
 public:
  WeightedSpray(WeightedDraw draw, sim::RandomStream random) : random_(random), draw_(std::move(draw)) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    const auto drawn = static_cast<std::uint32_t>(random_.next() >> 32);
    return {.port = draw_.pick(packet.destination, minimal, drawn)};
  }

 private:
  sim::RandomStream random_;
  WeightedDraw draw_;
};

class WeightedPlan final : public SwitchPlan {
 public:
  explicit WeightedPlan(const PlanSetup& setup) : weights_(setup) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream random) const override {
    WeightedDraw draw(weights_, weights_.topology().switch_at(switch_index));
    return std::make_unique<WeightedSpray>(std::move(draw), random);
  }
  void set_rate_shares(std::span<const double> rate_shares) override {
    weights_.set_rate_shares(rate_shares);
  }
  void reconverge(const std::vector<bool>& down_links) override { weights_.repair(down_links); }

 private:
  PathWeights weights_;
};

template <typename Made>
std::unique_ptr<SwitchPlan> plain() {
  return each_switch([](std::uint32_t, sim::RandomStream random) { return std::make_unique<Made>(random); });
}

enum class Choice : std::uint8_t { kRandom, kInTurn, kWeighted };

Choice choice_of(const Parameters& parameters) {
  const std::string& choice = parameters.text("choice");
  if (choice == "random") return Choice::kRandom;
  if (choice == "round_robin") return Choice::kInTurn;
  return Choice::kWeighted;
}

std::unique_ptr<SwitchPlan> make_switch_spray_plan(const PlanSetup& setup) {
  switch (choice_of(setup.parameters)) {
    case Choice::kRandom:
      return plain<RandomSpray>();
    case Choice::kInTurn:
      return plain<TurnSpray>();
    default:
      return std::make_unique<WeightedPlan>(setup);
  }
}

std::unique_ptr<PathModel> make_switch_spray_paths(const PlanSetup& setup) {
  if (choice_of(setup.parameters) == Choice::kWeighted) return weighted_paths(setup);
  return std::make_unique<MinimalPaths>(setup.table);
}

}  // namespace

Policy switch_spray() {
  return {
      .info = {.name = "switch_spray",
               .summary = "Each packet takes another of the shortest paths, drawn by the switches.",
               .source = "A. Dixit, P. Prakash, Y. Hu, R. Kompella, On the impact of packet spraying in "
                         "data center networks, INFOCOM 2013",
               .parameters = {{"choice", ParameterType::kText, "random",
                               "Of the next port: random, round_robin (in turn, in an order drawn anew for "
                               "each round) or weighted (odds in proportion to what paths can carry).",
                               one_of({"random", "round_robin", "weighted"})}}},
      .configure =
          [](const Parameters& parameters, Policy& policy) {
            if (choice_of(parameters) == Choice::kWeighted) policy.rate_news = RateNews::kWithRoutes;
          },
      .make_plan = make_switch_spray_plan,
      .make_paths = make_switch_spray_paths,
      .fluid = FluidPaths::kModel,
      .asks = {.control = false},
      .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
