#include "sim/routing/policies/minimal_adaptive.h"

#include "sim/routing/parts/port_choice.h"

namespace weft::routing {
namespace {

class MinimalAdaptive final : public SwitchPolicy {
 public:
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    return {.port = least_loaded(minimal, here)};
  }
};

}  // namespace

Policy minimal_adaptive() {
  return {.info = {.name = "minimal_adaptive",
                   .summary = "Each packet takes the shortest path with the shortest queue at this switch.",
                   .source = "W. J. Dally, B. Towles, Principles and practices of interconnection networks, "
                             "2004, 10.2 (minimal adaptive routing)",
                   .parameters = {}},
          .make_plan =
              [](const PlanSetup&) {
                return each_switch(
                    [](std::uint32_t, sim::RandomStream) { return std::make_unique<MinimalAdaptive>(); });
              },
          .fluid = FluidPaths::kEven,
          .asks = {.control = false},
          .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
