#include "sim/routing/policies/mod_k.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

[[noreturn]] void refuse_mod_k(const char* policy, const Topology& topology, const std::string& why) {
  throw InputError(
      fmt::format("routing policy {} is for trees, and {} is none: {}", policy, topology.name(), why));
}

// What switches of a tier have in common.
struct Tier {
  std::uint32_t links = 0;    // upwards, of each
  std::uint64_t divisor = 1;  // of hosts' numbers: the product of the links upwards of all tiers below
  std::uint64_t down = 1;     // the same of the tier below: of links beside each other that lead to it
  std::uint32_t digit(std::uint32_t number) const {
    return static_cast<std::uint32_t>(number / divisor % std::max(links, 1u));
  }
};

bool is_in_node(const topologies::Node& node) { return node.domain != topologies::kNoDomain; }

// Hosts' numbers: their own, but those of hosts inside nodes are counted where their NICs are plugged in,
// leaf by leaf. (All of a rail's have the same place in their nodes.)
std::vector<std::uint32_t> numbers_of_hosts(const Topology& topology) {
  std::vector<std::uint32_t> numbers(topology.hosts());
  std::iota(numbers.begin(), numbers.end(), 0u);
  if (!topology.has_domains()) return numbers;
  std::vector<bool> counted(topology.hosts(), false);
  std::uint32_t next = 0;
  const auto count = [&](Vertex v) {
    const topologies::Node& node = topology.node(v);
    if (node.kind != NodeKind::kHost || counted[node.index]) return;
    counted[node.index] = true;
    numbers[node.index] = next++;
  };
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (is_in_node(topology.node(topology.switch_at(s)))) continue;
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
      const Vertex end = topology.channels()[c].to;
      count(end);
      if (!is_in_node(topology.node(end))) continue;
      for (const std::uint32_t inner : topology.out_channels(end)) count(topology.channels()[inner].to);
    }
  }
  return numbers;
}

// By tier, that of hosts included. What is inside nodes is no part of the tree.
std::vector<Tier> tiers(const Topology& topology, const char* policy) {
  constexpr std::uint32_t kUnseen = UINT32_MAX;
  std::vector<Tier> tiers;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    const topologies::Node& node = topology.node(v);
    if (is_in_node(node)) continue;
    std::uint32_t up = 0;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Node& end = topology.node(topology.channels()[c].to);
      if (is_in_node(end)) continue;
      if (std::abs(int{end.tier} - int{node.tier}) != 1) {
        refuse_mod_k(
            policy, topology,
            fmt::format("{} is linked to {}, which isn't a tier above or below", node.name, end.name));
      }
      up += end.tier > node.tier;
    }
    if (tiers.size() <= node.tier) tiers.resize(node.tier + 1u, {.links = kUnseen});
    std::uint32_t& known = tiers[node.tier].links;
    if (known != kUnseen && known != up) {
      refuse_mod_k(policy, topology,
                   fmt::format("{} has {} links upwards, others of its tier {}", node.name, up, known));
    }
    known = up;
  }
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    if (tiers[t].links == kUnseen) tiers[t].links = 0;
    if (t >= 2) tiers[t].divisor = tiers[t - 1].divisor * std::max(tiers[t - 1].links, 1u);
    if (t >= 1) tiers[t].down = tiers[t - 1].divisor;
  }
  return tiers;
}

// Does a channel lead away from the hosts?
bool leads_up(const Topology& topology, std::uint32_t channel) {
  const topologies::Channel& wire = topology.channels()[channel];
  const topologies::Node &from = topology.node(wire.from), &to = topology.node(wire.to);
  return to.tier > from.tier && !is_in_node(to);
}

class ModK final : public SwitchPolicy {
 public:
  // `digits`: Tier::digit() by host; `numbers`: of hosts; `up`: by port, does it lead upwards?
  ModK(const Tier& tier, const std::vector<std::uint16_t>& digits, const std::vector<std::uint32_t>& numbers,
       std::vector<bool> up, bool by_source)
      : tier_(tier), digits_(digits), numbers_(numbers), up_(std::move(up)), by_source_(by_source) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    if (minimal.size() == 1) return {.port = minimal.front()};
    const std::uint32_t host = by_source_ ? packet.source : packet.destination;
    const bool up = up_[minimal.front()];
    if (up && minimal.size() == tier_.links) [[likely]]
      return {.port = minimal[digits_[host]]};
    return {.port = minimal[numbers_[host] / (up ? tier_.divisor : tier_.down) % minimal.size()]};
  }

 private:
  const Tier& tier_;
  const std::vector<std::uint16_t>& digits_;
  const std::vector<std::uint32_t>& numbers_;
  const std::vector<bool> up_;
  const bool by_source_;
};

class ModKPlan final : public SwitchPlan {
 public:
  ModKPlan(const PlanSetup& setup, bool by_source)
      : topology_(setup.topology),
        tiers_(tiers(setup.topology, by_source ? "s_mod_k" : "d_mod_k")),
        digits_(tiers_.size()),
        numbers_(numbers_of_hosts(setup.topology)),
        by_source_(by_source) {
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      if (tiers_[t].links < 2) continue;
      for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
        digits_[t].push_back(static_cast<std::uint16_t>(tiers_[t].digit(numbers_[host])));
      }
    }
  }
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    const Vertex v = topology_.switch_at(switch_index);
    const std::size_t tier = topology_.node(v).tier;
    std::vector<bool> up;
    for (const std::uint32_t c : topology_.out_channels(v)) up.push_back(leads_up(topology_, c));
    return std::make_unique<ModK>(tiers_[tier], digits_[tier], numbers_, std::move(up), by_source_);
  }

 private:
  const Topology& topology_;
  const std::vector<Tier> tiers_;
  std::vector<std::vector<std::uint16_t>> digits_;  // by tier; of those with a choice upwards
  const std::vector<std::uint32_t> numbers_;
  const bool by_source_;
};

// By a host's number.
std::uint32_t channel_of(const Topology& topology, const Tier& tier, const Candidates& next,
                         std::uint32_t number) {
  return next[number / (leads_up(topology, next[0]) ? tier.divisor : tier.down) % next.size()];
}

// Where a packet goes next depends on its destination alone.
class DModKPaths final : public PathModel {
 public:
  explicit DModKPaths(const PlanSetup& setup)
      : topology_(setup.topology),
        table_(setup.table),
        tiers_(tiers(setup.topology, "d_mod_k")),
        numbers_(numbers_of_hosts(setup.topology)) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const Candidates next = table_.candidates(at, host);
    if (next.empty()) return;
    steps.push_back(
        {.channel = channel_of(topology_, tiers_[topology_.node(at).tier], next, numbers_[host])});
  }

 private:
  const Topology& topology_;
  const RoutingTable& table_;
  const std::vector<Tier> tiers_;
  const std::vector<std::uint32_t> numbers_;
};

// And on its source: a way for each pair of hosts and NIC that is on a shortest path.
class SModKPaths final : public NamedPaths {
 public:
  explicit SModKPaths(const PlanSetup& setup)
      : topology_(setup.topology),
        table_(setup.table),
        tiers_(tiers(setup.topology, "s_mod_k")),
        numbers_(numbers_of_hosts(setup.topology)) {}
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
      channels.push_back(channel_of(topology_, tiers_[topology_.node(at).tier], next, numbers_[source]));
    }
    return true;
  }
  Vertex end(std::uint32_t channel) const { return topology_.channels()[channel].to; }

  const Topology& topology_;
  const RoutingTable& table_;
  const std::vector<Tier> tiers_;
  const std::vector<std::uint32_t> numbers_;
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
