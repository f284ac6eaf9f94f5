#include "sim/routing/policies/minimal.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/routing/parts/detour_routes.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

// A packet goes only the second part of a way by a switch in between.
class Minimal final : public DetourPolicy {
 public:
  Minimal(const DetourRoutes& routes, std::uint32_t switch_index, std::uint64_t salt)
      : DetourPolicy(routes, switch_index), salt_(salt) {}

 private:
  Decision decide(const PacketView&, const RouteNote&, std::span<const std::uint32_t>,
                  ActiveSwitch&) override {
    return {};
  }
  std::uint32_t pick(const PacketView& packet, std::span<const std::uint32_t> ports, ActiveSwitch&) override {
    return ports.size() == 1 ? ports.front() : ports[hash_choice(packet.entropy, salt_, ports.size())];
  }

  const std::uint64_t salt_;
};

class MinimalPlan final : public SwitchPlan {
 public:
  explicit MinimalPlan(const PlanSetup& setup) : routes_(setup), seed_(setup.seed) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<Minimal>(routes_, switch_index, switch_salt(seed_, switch_index));
  }
  void reconverge(const std::vector<bool>& down_links) override { routes_.rebuild(down_links); }
  Lookup lookup() const override { return routes_.lookup(); }

 private:
  DetourRoutes routes_;
  const std::uint64_t seed_;
};

class MinimalPolicyPaths final : public PathModel {
 public:
  explicit MinimalPolicyPaths(const PlanSetup& setup) : topology_(setup.topology), table_(setup.table) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(topologies::Vertex at, PathState, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    std::vector<std::uint32_t> channels;
    routes().channels(topology_.node(at).index, host, channels);
    for (const std::uint32_t c : channels)
      steps.push_back({.channel = c, .share = 1.0 / static_cast<double>(channels.size())});
  }
  std::uint32_t most_links() const override { return routes().most_links(); }
  bool tells_hosts_apart() const override { return false; }

 private:
  // Made when it is first needed: in large networks that takes seconds.
  const DetourRoutes& routes() const {
    std::call_once(once_, [this] {
      auto routes = std::make_unique<DetourRoutes>(topology_, table_);
      if (!table_.down_links().empty()) routes->rebuild(table_.down_links());
      routes_ = std::move(routes);
    });
    return *routes_;
  }

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const DetourRoutes> routes_;
};

}  // namespace

Policy minimal() {
  return {
      .info = {.name = "minimal",
               .summary =
                   "Each flow keeps a minimal path: between groups one link at most (the MIN of papers on "
                   "Dragonflies), elsewhere a shortest path.",
               .source = "J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-driven, highly-scalable "
                         "Dragonfly topology, ISCA 2008 (MIN)",
               .parameters = {}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<MinimalPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<MinimalPolicyPaths>(setup);
      },
      .fluid = FluidPaths::kOne,
      .asks = {.single = true, .own_ports = true, .ahead = true, .foresees = true, .notes = true},
      .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
