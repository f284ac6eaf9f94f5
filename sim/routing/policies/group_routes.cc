#include "sim/routing/policies/group_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <queue>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::routing {
namespace {

constexpr std::uint32_t kBetweenGroups = 1 << 16, kUnreached = UINT32_MAX;

}  // namespace

GroupRoutes::GroupRoutes(const topologies::Topology& topology) : topology_(topology), links_(topology) {
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    group_.push_back(topology.node(topology.switch_at(s)).group);
  }
  rebuild(std::vector<bool>(topology.edges().size()));
}

void GroupRoutes::rebuild(const std::vector<bool>& down_links) {
  std::vector<std::uint32_t> hosts(topology_.hosts());
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<HostClass> classes = classify(topology_, down_links, hosts, class_of_);
  classes_ = static_cast<std::uint32_t>(classes.size());
  const std::size_t pairs = std::size_t{links_.switches()} * classes_;
  expect_memory(static_cast<double>(pairs) * 5,
                fmt::format("routes between {} switches that spare links between groups",
                            grouped(static_cast<double>(links_.switches()))));
  set_of_.assign(pairs, 0);
  distance_.assign(pairs, kNoWay);
  sets_.assign(1, {});
  pool_.clear();
  known_.clear();
  for (std::uint32_t i = 0; i < classes_; ++i) {
    search(i, classes[i], down_links);
    note_ports(i, down_links);
  }
}

// Dijkstra's algorithm, from the switches that the hosts are cabled to.
void GroupRoutes::search(std::uint32_t host_class, const HostClass& hosts,
                         const std::vector<bool>& down_links) {
  using Reached = std::pair<std::uint32_t, std::uint32_t>;  // cost, switch
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  cost_.assign(links_.switches(), kUnreached);
  for (const std::uint32_t v : hosts.neighbours) {
    if (topology_.node(v).kind == topologies::NodeKind::kHost) continue;
    cost_[topology_.node(v).index] = 0;
    open.push({0, topology_.node(v).index});
  }
  while (!open.empty()) {
    const auto [cost, s] = open.top();
    open.pop();
    if (cost != cost_[s]) continue;
    for (const SwitchLink& link : links_.of(s)) {
      const std::uint32_t next = cost + (group_[s] == group_[link.to] ? 1 : kBetweenGroups + 1);
      if (next >= cost_[link.to] || is_down(down_links, link.channel)) continue;
      cost_[link.to] = next;
      open.push({next, link.to});
    }
  }
  for (std::uint32_t s = 0; s < links_.switches(); ++s) {
    if (cost_[s] == kUnreached) continue;
    const std::uint32_t links = cost_[s] % kBetweenGroups;
    if (links >= kNoWay) throw InputError("a way of 255 switches or more: groups that are linked have none");
    distance_[std::size_t{s} * classes_ + host_class] = static_cast<std::uint8_t>(links);
  }
}

void GroupRoutes::note_ports(std::uint32_t host_class, const std::vector<bool>& down_links) {
  std::vector<std::uint32_t> ports;
  for (std::uint32_t s = 0; s < links_.switches(); ++s) {
    if (cost_[s] == 0 || cost_[s] == kUnreached) continue;
    ports.clear();
    const auto out = topology_.out_channels(topology_.switch_at(s));
    for (std::uint32_t port = 0; port < out.size(); ++port) {
      const topologies::Node& end = topology_.node(topology_.channels()[out[port]].to);
      if (end.kind == topologies::NodeKind::kHost || is_down(down_links, out[port])) continue;
      const std::uint32_t step = group_[s] == end.group ? 1 : kBetweenGroups + 1;
      if (cost_[end.index] != kUnreached && cost_[end.index] + step == cost_[s]) {
        ports.push_back(port);
      }
    }
    set_of_[std::size_t{s} * classes_ + host_class] = number_of(ports);
  }
}

std::uint32_t GroupRoutes::number_of(const std::vector<std::uint32_t>& ports) {
  std::uint64_t hash = ports.size();
  for (const std::uint32_t port : ports) hash = (hash ^ port) * 0x9E3779B97F4A7C15ULL;
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Set& set = sets_[it->second];
    if (std::equal(ports.begin(), ports.end(), pool_.begin() + set.first,
                   pool_.begin() + set.first + set.count)) {
      return it->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(sets_.size());
  sets_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(ports.size())});
  pool_.insert(pool_.end(), ports.begin(), ports.end());
  known_.emplace(hash, number);
  return number;
}

}  // namespace weft::routing
