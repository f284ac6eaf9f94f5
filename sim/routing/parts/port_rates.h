// Where packets go whose switches look at the queues of their own ports, and no further.
#pragma once

#include <memory>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/switch_plan.h"

namespace weft::routing {

// For Policy::paths_remark.
inline constexpr const char* kGoesByRates =
    "which of these a packet takes goes by what it meets: shares are by the rates of links, as where all are "
    "busy";

// All shortest paths. Queues of a switch that are filled up to the same waiting time empty in proportion to
// the rates of their ports, so the shares of next channels are in proportion to what these carry now,
// whatever lies behind them.
class PortRates final : public PathModel {
 public:
  explicit PortRates(const PlanSetup& setup)
      : topology_(setup.topology),
        table_(setup.table),
        shares_(setup.rate_shares.begin(), setup.rate_shares.end()) {}
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  bool tells_hosts_apart() const override { return false; }

 private:
  const topologies::Topology& topology_;
  const RoutingTable& table_;
  const std::vector<double> shares_;  // by channel: PlanSetup's
};

// Makes the shares of these steps those of the rates of their channels. `rate_shares`: as PlanSetup's. Steps
// over links that are down get nothing.
void share_by_rates(const topologies::Topology& topology, std::span<const double> rate_shares,
                    std::span<PathStep> steps);

std::unique_ptr<PathModel> port_rates(const PlanSetup& setup);

}  // namespace weft::routing
