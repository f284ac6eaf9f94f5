#include "sim/routing/policies/mod_k.h"

#include <fmt/core.h>

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

// What switches of a tier have in common.
struct Tier {
  std::uint32_t links = 0;    // upwards, of each
  std::uint64_t divisor = 1;  // of hosts' numbers: the product of the links upwards of all tiers below
  std::uint32_t digit(std::uint32_t host) const {
    return static_cast<std::uint32_t>(host / divisor % std::max(links, 1u));
  }
};

// By tier, that of hosts included.
std::vector<Tier> tiers(const Topology& topology, const char* policy) {
  constexpr std::uint32_t kUnseen = UINT32_MAX;
  std::vector<Tier> tiers;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    const topologies::Node& node = topology.node(v);
    std::uint32_t up = 0;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Node& end = topology.node(topology.channels()[c].to);
      if (std::abs(int{end.tier} - int{node.tier}) != 1) {
        refuse(policy, topology,
               fmt::format("{} is linked to {}, which isn't a tier above or below", node.name, end.name));
      }
      up += end.tier > node.tier;
    }
    if (tiers.size() <= node.tier) tiers.resize(node.tier + 1u, {.links = kUnseen});
    std::uint32_t& known = tiers[node.tier].links;
    if (known != kUnseen && known != up) {
      refuse(policy, topology,
             fmt::format("{} has {} links upwards, others of its tier {}", node.name, up, known));
    }
    known = up;
  }
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    if (tiers[t].links == kUnseen) tiers[t].links = 0;
    if (t >= 2) tiers[t].divisor = tiers[t - 1].divisor * std::max(tiers[t - 1].links, 1u);
  }
  return tiers;
}

class ModK final : public SwitchPolicy {
 public:
  // `digits`: Tier::digit() by host.
  ModK(const Tier& tier, const std::vector<std::uint16_t>& digits, bool by_source)
      : tier_(tier), digits_(digits), by_source_(by_source) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    const std::uint32_t host = by_source_ ? packet.source : packet.destination;
    if (minimal.size() == tier_.links && minimal.size() > 1) [[likely]]
      return {.port = minimal[digits_[host]]};
    return {.port = minimal[host / tier_.divisor % minimal.size()]};
  }

 private:
  const Tier& tier_;
  const std::vector<std::uint16_t>& digits_;
  const bool by_source_;
};

class ModKPlan final : public SwitchPlan {
 public:
  ModKPlan(const PlanSetup& setup, bool by_source)
      : topology_(setup.topology),
        tiers_(tiers(setup.topology, by_source ? "s_mod_k" : "d_mod_k")),
        digits_(tiers_.size()),
        by_source_(by_source) {
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      if (tiers_[t].links < 2) continue;
      for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
        digits_[t].push_back(static_cast<std::uint16_t>(tiers_[t].digit(host)));
      }
    }
  }
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    const std::size_t tier = topology_.node(topology_.switch_at(switch_index)).tier;
    return std::make_unique<ModK>(tiers_[tier], digits_[tier], by_source_);
  }

 private:
  const Topology& topology_;
  const std::vector<Tier> tiers_;
  std::vector<std::vector<std::uint16_t>> digits_;  // by tier; of those with a choice upwards
  const bool by_source_;
};

// Where a packet goes next depends on its destination alone.
class DModKPaths final : public PathModel {
 public:
  explicit DModKPaths(const PlanSetup& setup)
      : topology_(setup.topology), table_(setup.table), tiers_(tiers(setup.topology, "d_mod_k")) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const Candidates next = table_.candidates(at, host);
    if (next.empty()) return;
    steps.push_back({.channel = next[host / tiers_[topology_.node(at).tier].divisor % next.size()]});
  }

 private:
  const Topology& topology_;
  const RoutingTable& table_;
  const std::vector<Tier> tiers_;
};

// And on its source: a way for each pair of hosts and NIC that is on a shortest path.
class SModKPaths final : public NamedPaths {
 public:
  explicit SModKPaths(const PlanSetup& setup)
      : topology_(setup.topology), table_(setup.table), tiers_(tiers(setup.topology, "s_mod_k")) {}
  void ways(std::uint32_t source, std::uint32_t destination, std::vector<NamedWay>& ways) const override {
    const Candidates nics = table_.candidates(topology_.host(source), destination);
    for (const std::uint32_t nic : nics) {
      NamedWay way{.share = 1.0 / static_cast<double>(nics.size()), .channels = {nic}};
      if (walk(source, destination, way.channels)) ways.push_back(std::move(way));
    }
  }
  bool all_minimal() const override { return true; }

 private:
  // False: there is no way on.
  bool walk(std::uint32_t source, std::uint32_t destination, std::vector<std::uint32_t>& channels) const {
    for (Vertex at = end(channels.back()); at != topology_.host(destination); at = end(channels.back())) {
      const Candidates next = table_.candidates(at, destination);
      if (next.empty()) return false;
      channels.push_back(next[source / tiers_[topology_.node(at).tier].divisor % next.size()]);
    }
    return true;
  }
  Vertex end(std::uint32_t channel) const { return topology_.channels()[channel].to; }

  const Topology& topology_;
  const RoutingTable& table_;
  const std::vector<Tier> tiers_;
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
      .asks = {.ahead = true},
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
    return std::make_unique<SModKPaths>(setup);
  };
  policy.fluid = FluidPaths::kModel;
  return policy;
}

}  // namespace weft::routing
