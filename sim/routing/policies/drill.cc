#include "sim/routing/policies/drill.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sim/routing/parts/port_choice.h"
#include "sim/routing/parts/port_rates.h"

namespace weft::routing {
namespace {

class Drill final : public SwitchPolicy {
 public:
  Drill(std::uint32_t draws, std::uint32_t memory, sim::RandomStream random)
      : draws_(draws), memory_(memory), random_(random) {}

  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    samples_.clear();
    if (memory_ == 0) {
      draw(minimal);
      return {.port = least_loaded(samples_, here)};
    }
    std::vector<std::uint32_t>& remembered = remembered_[key(minimal)];
    for (const std::uint32_t port : remembered) {
      // Links may be down by now.
      if (std::find(minimal.begin(), minimal.end(), port) != minimal.end()) samples_.push_back(port);
    }
    draw(minimal);
    const std::uint32_t port = least_loaded(samples_, here);
    remember(port, remembered, here);
    return {.port = port};
  }

 private:
  // Ports drawn, without those that are there already.
  void draw(std::span<const std::uint32_t> minimal) {
    for (std::uint32_t i = 0; i < draws_; ++i) {
      const std::uint32_t port = minimal[random_.below(minimal.size())];
      if (std::find(samples_.begin(), samples_.end(), port) == samples_.end()) samples_.push_back(port);
    }
  }
  // The least loaded of the samples, the one that was taken first.
  void remember(std::uint32_t taken, std::vector<std::uint32_t>& remembered, OwnSwitch& here) {
    remembered.assign(1, taken);
    if (memory_ == 1) return;
    std::erase(samples_, taken);
    std::stable_sort(samples_.begin(), samples_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return load_of(a, here) < load_of(b, here); });
    for (const std::uint32_t port : samples_) {
      if (remembered.size() < memory_) remembered.push_back(port);
    }
  }
  // A set of next ports is told by its ends and its size: other sets that agree in these share the memory.
  static std::uint64_t key(std::span<const std::uint32_t> minimal) {
    return std::uint64_t{minimal.front()} << 40 | std::uint64_t{minimal.back()} << 16 | minimal.size();
  }

  const std::uint32_t draws_, memory_;
  sim::RandomStream random_;
  std::vector<std::uint32_t> samples_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> remembered_;
};

std::unique_ptr<SwitchPlan> plan(std::uint32_t draws, std::uint32_t memory) {
  return each_switch([=](std::uint32_t, sim::RandomStream random) {
    return std::make_unique<Drill>(draws, memory, random);
  });
}

}  // namespace

Policy drill() {
  return {
      .info = {.name = "drill",
               .summary = "Each packet takes the least loaded of a few ports drawn at random and the best "
                          "of before.",
               .source = "S. Ghorbani, Z. Yang, P. B. Godfrey, Y. Ganjali, A. Firoozshahian, DRILL: micro "
                         "load balancing for low-latency data center networks, SIGCOMM 2017",
               .parameters = {{"d", ParameterType::kInteger, "2", "Ports drawn for each packet.",
                               from_to("1", "64")},
                              {"m", ParameterType::kInteger, "1", "Ports remembered from the packet before.",
                               from_to("0", "64")}}},
      .make_plan =
          [](const PlanSetup& setup) {
            return plan(setup.parameters.whole("d"), setup.parameters.whole("m"));
          },
      .make_paths = port_rates,
      .fluid = FluidPaths::kAround,
      .rate_news = RateNews::kAtOnce,
      .asks = {.control = false},
      .order = KeepsOrder::kNo,
      .paths_remark = kGoesByRates};
}

Policy power_of_two() {
  return {.info = {.name = "power_of_two",
                   .summary = "Each packet takes the less loaded of two ports drawn at random.",
                   .source = "M. Mitzenmacher, The power of two choices in randomized load balancing, IEEE "
                             "Trans. Parallel Distrib. Syst. 12(10), 2001",
                   .parameters = {{"choices", ParameterType::kInteger, "2", "Ports drawn for each packet.",
                                   from_to("1", "64")}}},
          .make_plan = [](const PlanSetup& setup) { return plan(setup.parameters.whole("choices"), 0); },
          .make_paths = port_rates,
          .fluid = FluidPaths::kAround,
          .rate_news = RateNews::kAtOnce,
          .asks = {.control = false},
          .order = KeepsOrder::kNo,
          .paths_remark = kGoesByRates};
}

}  // namespace weft::routing
