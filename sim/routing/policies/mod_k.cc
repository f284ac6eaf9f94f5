#include "sim/routing/policies/mod_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

[[noreturn]] void refuse(const char* policy, const Topology& topology, const std::string& why) {
  throw InputError(
      fmt::format("routing policy {} is for trees, and {} is none: {}", policy, topology.name(), why));
}

// What a switch divides the number of a host by, by tier: the product of the links upwards of all tiers
// below.
std::vector<std::uint64_t> divisors(const Topology& topology, const char* policy) {
  std::vector<std::uint64_t> up_links;  // by tier; 0: no switch seen yet, and +1 else
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    const topologies::Node& node = topology.node(v);
    std::uint64_t up = 0;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Node& end = topology.node(topology.channels()[c].to);
      if (std::abs(int{end.tier} - int{node.tier}) != 1) {
        refuse(policy, topology,
               fmt::format("{} is linked to {}, which isn't a tier above or below", node.name, end.name));
      }
      up += end.tier > node.tier;
    }
    if (up_links.size() <= node.tier) up_links.resize(node.tier + 1u);
    std::uint64_t& known = up_links[node.tier];
    if (known != 0 && known != up + 1) {
      refuse(policy, topology,
             fmt::format("{} has {} links upwards, others of its tier {}", node.name, up, known - 1));
    }
    known = up + 1;
  }
  std::vector<std::uint64_t> divisors(up_links.size(), 1);
  for (std::size_t tier = 2; tier < up_links.size(); ++tier) {
    divisors[tier] = divisors[tier - 1] * std::max<std::uint64_t>(up_links[tier - 1] - 1, 1);
  }
  return divisors;
}

class ModK final : public SwitchPolicy {
 public:
  ModK(std::uint64_t divisor, bool by_source) : divisor_(divisor), by_source_(by_source) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    const std::uint32_t host = by_source_ ? packet.source : packet.destination;
    return {.port = minimal[host / divisor_ % minimal.size()]};
  }

 private:
  const std::uint64_t divisor_;
  const bool by_source_;
};

class ModKPlan final : public SwitchPlan {
 public:
  ModKPlan(const PlanSetup& setup, bool by_source)
      : topology_(setup.topology),
        divisors_(divisors(setup.topology, by_source ? "s_mod_k" : "d_mod_k")),
        by_source_(by_source) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<ModK>(divisors_[topology_.node(topology_.switch_at(switch_index)).tier],
                                  by_source_);
  }

 private:
  const Topology& topology_;
  const std::vector<std::uint64_t> divisors_;
  const bool by_source_;
};

// D-mod-k only: with S-mod-k where a packet goes depends on its source as well.
class DModKPaths final : public PathModel {
 public:
  explicit DModKPaths(const PlanSetup& setup)
      : topology_(setup.topology), table_(setup.table), divisors_(divisors(setup.topology, "d_mod_k")) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const Candidates next = table_.candidates(at, host);
    if (next.empty()) return;
    steps.push_back({.channel = next[host / divisors_[topology_.node(at).tier] % next.size()]});
  }

 private:
  const Topology& topology_;
  const RoutingTable& table_;
  const std::vector<std::uint64_t> divisors_;
};

Policy mod_k(bool by_source) {
  Policy policy{
      .info = {.name = by_source ? "s_mod_k" : "d_mod_k",
               .summary = by_source
                              ? "Trees: the source's number decides the way up; one path for a pair."
                              : "Trees: the destination's number decides the way up; one path for a pair.",
               .source = "E. Zahavi, G. Johnson, D. J. Kerbyson, M. Lang, Optimized InfiniBand fat-tree "
                         "routing for shift all-to-all communication patterns, Concurrency Computat. "
                         "Pract. Exper. 22(2), 2010",
               .parameters = {}},
      .order = KeepsOrder::kYes};
  return policy;
}

}  // namespace

Policy d_mod_k() {
  Policy policy = mod_k(false);
  policy.make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
    return std::make_unique<ModKPlan>(setup, false);
  };
  policy.make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
    return std::make_unique<DModKPaths>(setup);
  };
  policy.fluid = FluidPaths::kModel;
  return policy;
}

Policy s_mod_k() {
  Policy policy = mod_k(true);
  policy.make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
    return std::make_unique<ModKPlan>(setup, true);
  };
  policy.make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
    (void)divisors(setup.topology, "s_mod_k");
    return std::make_unique<MinimalPaths>(setup.table);
  };
  policy.paths_remark = "a pair takes one of these, by its source: shares are as if evenly";
  return policy;
}

}  // namespace weft::routing
