#include "sim/routing/parts/group_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim/routing/table/home_switches.h"
#include "sim/routing/table/switch_links.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::routing {
namespace {

constexpr std::uint32_t kBetweenGroups = 1 << 16, kUnreached = UINT32_MAX;

}  // namespace

GroupRoutes::GroupRoutes(const topologies::Topology& topology) : topology_(topology) {
  rebuild(std::vector<bool>(topology.edges().size()));
}

void GroupRoutes::rebuild(const std::vector<bool>& down_links) {
  const std::vector<HostClass> classes = find_classes(down_links);
  classes_ = static_cast<std::uint32_t>(classes.size());
  const std::size_t pairs = std::size_t{topology_.switches() - first_} * classes_;
  expect_memory(static_cast<double>(pairs) * 5,
                fmt::format("routes between {} switches that spare links between groups",
                            grouped(static_cast<double>(topology_.switches() - first_))));
  code_of_.assign(pairs, kSets);
  distance_.assign(pairs, kNoWay);
  sets_.assign(1, {});
  pool_.clear();
  known_.clear();
  list_arcs(down_links);
  for (std::uint32_t i = 0; i < classes_; ++i) {
    search(i, classes[i]);
    note_ports(i);
  }
}

std::vector<HostClass> GroupRoutes::find_classes(const std::vector<bool>& down_links) {
  const HomeSwitches homes(topology_, down_links);
  outer_ = homes.outer();
  first_ = 0;
  while (first_ + 1 < topology_.switches() && is_left_out(topology_.node(topology_.switch_at(first_)))) {
    ++first_;
  }
  if (outer_) return homes.classify(class_of_);
  std::vector<std::uint32_t> hosts(topology_.hosts());
  std::iota(hosts.begin(), hosts.end(), 0);
  return classify(topology_, down_links, hosts, class_of_);
}

void GroupRoutes::list_arcs(const std::vector<bool>& down_links) {
  begin_.assign(1, 0);
  arcs_.clear();
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    const auto out = topology_.out_channels(topology_.switch_at(s));
    const topologies::Node& begin = topology_.node(topology_.switch_at(s));
    for (std::uint32_t port = 0; port < out.size() && !is_left_out(begin); ++port) {
      const topologies::Node& end = topology_.node(topology_.channels()[out[port]].to);
      if (end.kind == topologies::NodeKind::kHost || is_down(down_links, out[port])) continue;
      if (is_left_out(end)) continue;
      arcs_.push_back({end.index, static_cast<std::uint16_t>(port), end.group != begin.group});
    }
    begin_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  }
}

std::uint32_t GroupRoutes::most_links() const {
  std::uint8_t most = 0;
  for (const std::uint8_t distance : distance_) {
    if (distance != kNoWay) most = std::max(most, distance);
  }
  return most;
}

// From the switches that the hosts are cabled to: all that is reached with so many links between groups, by
// the number of all links, then all with one more.
void GroupRoutes::search(std::uint32_t host_class, const HostClass& hosts) {
  cost_.assign(topology_.switches(), kUnreached);
  open_.assign(1, {});
  for (const std::uint32_t v : hosts.neighbours) {
    if (topology_.node(v).kind == topologies::NodeKind::kHost) continue;
    cost_[topology_.node(v).index] = 0;
    open_[0].push_back(topology_.node(v).index);
  }
  const auto add = [](std::vector<std::vector<std::uint32_t>>& open, std::uint32_t links, std::uint32_t s) {
    if (open.size() <= links) open.resize(links + 1);
    open[links].push_back(s);
  };
  for (std::uint32_t crossed = 0; !open_.empty(); crossed += kBetweenGroups) {
    open_beyond_.clear();
    for (std::uint32_t links = 0; links < open_.size(); ++links) {
      for (std::size_t i = 0; i < open_[links].size(); ++i) {
        const std::uint32_t s = open_[links][i], cost = crossed + links;
        if (cost_[s] != cost) continue;
        for (const Arc& arc : arcs(s)) {
          const std::uint32_t next = cost + 1 + (arc.between ? kBetweenGroups : 0);
          if (next >= cost_[arc.to]) continue;
          cost_[arc.to] = next;
          add(arc.between ? open_beyond_ : open_, links + 1, arc.to);
        }
      }
    }
    open_.swap(open_beyond_);
  }
  for (std::uint32_t s = first_; s < topology_.switches(); ++s) {
    if (cost_[s] == kUnreached) continue;
    const std::uint32_t links = cost_[s] % kBetweenGroups;
    if (links >= kNoWay) throw InputError("a way of 255 switches or more: groups that are linked have none");
    distance_[std::size_t{s - first_} * classes_ + host_class] = static_cast<std::uint8_t>(links);
  }
}

void GroupRoutes::note_ports(std::uint32_t host_class) {
  std::vector<std::uint32_t> ports;
  for (std::uint32_t s = first_; s < topology_.switches(); ++s) {
    if (cost_[s] == 0 || cost_[s] == kUnreached) continue;
    ports.clear();
    for (const Arc& arc : arcs(s)) {
      if (cost_[arc.to] == kUnreached) continue;
      if (cost_[arc.to] + 1 + (arc.between ? kBetweenGroups : 0) == cost_[s]) ports.push_back(arc.port);
    }
    code_of_[std::size_t{s - first_} * classes_ + host_class] = code(ports);
  }
}

std::uint32_t GroupRoutes::code(const std::vector<std::uint32_t>& ports) {
  if (ports.size() != 1) return kSets + look_up(ports);
  while (numbers_.size() <= ports.front()) numbers_.push_back(static_cast<std::uint32_t>(numbers_.size()));
  return ports.front();
}

std::uint32_t GroupRoutes::look_up(const std::vector<std::uint32_t>& ports) {
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
