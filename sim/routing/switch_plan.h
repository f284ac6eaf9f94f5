// What a routing policy makes of a network before a run: shared by its switches, which only read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/switch_policy.h"
#include "sim/routing/table/routing_table.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// The network that a policy is to work on. All of it outlives what is made of it.
struct PlanSetup {
  const Parameters& parameters;
  const topologies::Topology& topology;
  const RoutingTable& table;  // the network's minimal next channels, with all links up
  std::uint64_t seed = 1;
  // By channel, the share of the rate it was built with that it has, as far as that is known where the policy
  // is at work (Policy::rate_news); 0: it is down. Empty: all have all of it.
  std::span<const double> rate_shares = {};
};

// What choose() and foresee() read first of a table of the plan's: it is fetched ahead of them.
struct Lookup {
  const void* table = nullptr;              // null: nothing
  std::size_t row_bytes = 0;                // by switch index
  std::size_t entry_bytes = 0;              // of a row
  const std::uint32_t* entry_of = nullptr;  // by host
  bool by_via = false;                      // where RouteNote::via is a host, that one's entry too
};

class SwitchPlan {
 public:
  virtual ~SwitchPlan() = default;
  // Called once for each switch. The plan outlives what it makes.
  virtual std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream random) const = 0;
  // Links have failed or come back, and routes are worked out anew everywhere: a plan with routes of its own
  // does so too. Minimal ones, as policies are given them, have changed already. No switch is at work then.
  // `down_links`: by link.
  virtual void reconverge(const std::vector<bool>& /*down_links*/) {}
  // Good until reconverge().
  virtual Lookup lookup() const { return {}; }
  // For policies with RateNews::kWithRoutes, before reconverge(): the shares of their rates that links have
  // now, as PlanSetup's.
  virtual void set_rate_shares(std::span<const double> /*rate_shares*/) {}
  // What all switches have told, by switch, where there are snapshots: for a plan that keeps it for all of
  // its switches. False: each switch hears what each other one has told (SwitchPolicy::heard()).
  virtual bool told(std::span<const Snapshot> /*snapshots*/) { return false; }
};

namespace internal {

template <typename Make>
class EachSwitch final : public SwitchPlan {
 public:
  explicit EachSwitch(Make make) : make_(std::move(make)) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream random) const override {
    return make_(switch_index, random);
  }

 private:
  Make make_;
};

}  // namespace internal

// A plan that knows nothing of the network: make(switch index, random stream) returns a switch's object.
template <typename Make>
std::unique_ptr<SwitchPlan> each_switch(Make make) {
  return std::make_unique<internal::EachSwitch<Make>>(std::move(make));
}

}  // namespace weft::routing
