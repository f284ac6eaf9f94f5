#include "sim/routing/table/home_switches.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/routing/table/switch_links.h"

namespace weft::routing {
namespace {

using topologies::kNoDomain;
using topologies::NodeKind;
using Vertices = std::vector<std::uint32_t>;

// The nearest ways out of machines, by a search from the NICs' ends inside, over links inside.
class Exits {
 public:
  Exits(const topologies::Topology& topology, const std::vector<bool>& down_links)
      : topology_(topology),
        down_links_(down_links),
        away_(topology.nodes(), kFar),
        homes_(topology.nodes()) {
    for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
      if (topology.node(v).domain == kNoDomain) continue;
      homes_[v] = outer_switches(v);
      if (homes_[v].empty()) continue;
      away_[v] = 0;
      on_[topology.node(v).domain].insert(homes_[v].begin(), homes_[v].end());
      if (topology.node(v).kind == NodeKind::kSwitch) order_.push_back(v);
    }
    search();
  }

  bool any() const { return !on_.empty(); }
  bool one_each() const {
    return std::ranges::all_of(on_, [](const auto& domain) { return domain.second.size() == 1; });
  }
  const Vertices& homes(std::uint32_t v) const { return homes_[v]; }
  // Lists the channels of a switch inside that lead out, or nearer to a way out.
  Vertices channels(std::uint32_t v) const {
    Vertices found;
    if (away_[v] == kFar) return found;
    each_up(v, [&](std::uint32_t c, std::uint32_t to) {
      const bool leads = away_[v] == 0 ? is_outer(to) : is_inner(v, to) && away_[to] + 1 == away_[v];
      if (leads) found.push_back(c);
    });
    return found;
  }

 private:
  static constexpr std::uint32_t kFar = UINT32_MAX;

  bool is_outer(std::uint32_t v) const {
    return topology_.node(v).kind == NodeKind::kSwitch && topology_.node(v).domain == kNoDomain;
  }
  bool is_inner(std::uint32_t v, std::uint32_t next) const {
    return topology_.is_inside(v, next) && topology_.node(next).kind == NodeKind::kSwitch;
  }
  template <typename Visit>
  void each_up(std::uint32_t v, Visit&& visit) const {
    for (const std::uint32_t c : topology_.out_channels(v)) {
      if (!is_down(down_links_, c)) visit(c, topology_.channels()[c].to);
    }
  }
  Vertices outer_switches(std::uint32_t v) const {
    Vertices found;
    each_up(v, [&](std::uint32_t, std::uint32_t to) {
      if (is_outer(to)) found.push_back(to);
    });
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  void search() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t v = order_[i];
      each_up(v, [&](std::uint32_t, std::uint32_t to) {
        if (!is_inner(v, to) || away_[to] != kFar) return;
        away_[to] = away_[v] + 1;
        order_.push_back(to);
      });
    }
    // Nearer ones have theirs by then.
    for (const std::uint32_t v : order_) {
      if (away_[v] > 0) gather(v, away_[v] - 1);
    }
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const auto v = static_cast<std::uint32_t>(topology_.host(h));
      if (away_[v] == 0 || topology_.node(v).domain == kNoDomain) continue;
      std::uint32_t least = kFar;
      each_up(v, [&](std::uint32_t, std::uint32_t to) {
        if (is_inner(v, to)) least = std::min(least, away_[to]);
      });
      if (least != kFar) gather(v, least);
    }
  }
  // The homes of its neighbours inside that are so far from a NIC.
  void gather(std::uint32_t v, std::uint32_t away) {
    std::set<std::uint32_t> all;
    each_up(v, [&](std::uint32_t, std::uint32_t to) {
      if (is_inner(v, to) && away_[to] == away) all.insert(homes_[to].begin(), homes_[to].end());
    });
    homes_[v].assign(all.begin(), all.end());
  }

  const topologies::Topology& topology_;
  const std::vector<bool>& down_links_;
  std::vector<std::uint32_t> away_;                      // by vertex: links inside to the nearest NIC
  std::vector<Vertices> homes_;                          // by vertex inside
  std::map<std::uint32_t, std::set<std::uint32_t>> on_;  // by domain: the outer switches that it is on
  Vertices order_;
};

}  // namespace

HomeSwitches::HomeSwitches(const topologies::Topology& topology, const std::vector<bool>& down_links) {
  if (topology.has_domains()) find_outer(topology, down_links);
  if (outer_) return;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
      homes_.push_back(topology.channels()[c].to);
    }
    begin_.push_back(static_cast<std::uint32_t>(homes_.size()));
  }
}

void HomeSwitches::find_outer(const topologies::Topology& topology, const std::vector<bool>& down_links) {
  const Exits found(topology, down_links);
  ambiguous_ = found.any() && !topology.linked_groups() && !found.one_each();
  outer_ = found.any() && !ambiguous_;
  if (!outer_) return;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const auto v = static_cast<std::uint32_t>(topology.host(host));
    if (topology.node(v).domain != kNoDomain) {
      homes_.insert(homes_.end(), found.homes(v).begin(), found.homes(v).end());
    } else {
      for (const std::uint32_t c : topology.out_channels(v)) {
        const std::uint32_t to = topology.channels()[c].to;
        const bool known = std::find(homes_.begin() + begin_.back(), homes_.end(), to) != homes_.end();
        if (!known && !is_down(down_links, c)) homes_.push_back(to);
      }
    }
    begin_.push_back(static_cast<std::uint32_t>(homes_.size()));
  }
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const auto v = static_cast<std::uint32_t>(topology.switch_at(s));
    const Vertices channels = topology.node(v).domain == kNoDomain ? Vertices() : found.channels(v);
    exits_.insert(exits_.end(), channels.begin(), channels.end());
    exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
  }
}

bool HomeSwitches::are_among(std::uint32_t from, std::uint32_t to) const {
  return std::ranges::all_of(
      of(from), [&](std::uint32_t home) { return std::ranges::find(of(to), home) != of(to).end(); });
}

std::vector<HostClass> HomeSwitches::classify(std::vector<std::uint32_t>& class_of) const {
  std::vector<HostClass> classes;
  std::map<Vertices, std::uint32_t> known;
  class_of.clear();
  for (std::uint32_t host = 0; host + 1 < begin_.size(); ++host) {
    const Vertices homes(of(host).begin(), of(host).end());
    const auto [place, is_new] = known.emplace(homes, static_cast<std::uint32_t>(classes.size()));
    if (is_new) classes.push_back({.representative = host, .neighbours = homes});
    class_of.push_back(place->second);
    ++classes[place->second].members;
  }
  return classes;
}

}  // namespace weft::routing
