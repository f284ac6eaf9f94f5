#include "sim/routing/policies/minimal_adaptive.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/routing/parts/port_choice.h"
#include "sim/routing/parts/port_rates.h"

namespace weft::routing {
namespace {

class MinimalAdaptive final : public SwitchPolicy {
 public:
  // `grain`: loads within the same multiple of it are equal; 0: all that differ are not.
  explicit MinimalAdaptive(Time grain) : grain_ps_(grain.ps()) {}

  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    if (grain_ps_ == 0 || minimal.size() == 1) return {.port = least_loaded(minimal, here)};
    std::int64_t least = INT64_MAX;
    for (const std::uint32_t port : minimal) {
      const Time load = load_of(port, here);
      const std::int64_t level = load == Time::max() ? INT64_MAX : load.ps() / grain_ps_;
      if (level > least) continue;
      if (level < least) equal_.clear();
      least = level;
      equal_.push_back(port);
    }
    return {.port = any_port(equal_, here)};
  }

 private:
  const std::int64_t grain_ps_;
  std::vector<std::uint32_t> equal_;
};

// What so many bytes take on the slowest of the switch's links.
Time grain_of(const topologies::Topology& topology, std::uint32_t index, std::uint64_t bytes) {
  Time longest;
  for (const std::uint32_t channel : topology.out_channels(topology.switch_at(index))) {
    longest = std::max(longest, topology.channels()[channel].rate.serialization(bytes));
  }
  return longest;
}

}  // namespace

Policy minimal_adaptive() {
  return {.info = {.name = "minimal_adaptive",
                   .summary = "Each packet takes the shortest path with the shortest queue at this switch.",
                   .source = "W. J. Dally, B. Towles, Principles and practices of interconnection networks, "
                             "2004, 10.2 (minimal adaptive routing)",
                   .parameters = {{"grain", ParameterType::kBytes, "4KiB",
                                   "Queues that are equal in whole multiples of so many bytes are equally "
                                   "short, and one of them is drawn; 0: only those that are equal."}}},
          .make_plan =
              [](const PlanSetup& setup) {
                return each_switch([bytes = setup.parameters.bytes("grain"), &topology = setup.topology](
                                       std::uint32_t index, sim::RandomStream) {
                  return std::make_unique<MinimalAdaptive>(grain_of(topology, index, bytes));
                });
              },
          .make_paths = port_rates,
          .fluid = FluidPaths::kAround,
          .rate_news = RateNews::kAtOnce,
          .asks = {.control = false},
          .order = KeepsOrder::kNo,
          .paths_remark = kGoesByRates};
}

}  // namespace weft::routing
