// Path models to try what uses them: by an intermediate host, mixed, by the number of the destination, on a
// ring with a dateline; and a plain way to follow any model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Do the two hosts share a switch?
inline bool share_switch(const topologies::Topology& topology, std::uint32_t a, std::uint32_t b) {
  for (const std::uint32_t c : topology.out_channels(topology.host(a))) {
    for (const std::uint32_t d : topology.out_channels(topology.host(b))) {
      if (topology.channels()[c].to == topology.channels()[d].to) return true;
    }
  }
  return false;
}

// A share of the packets goes to a random intermediate host's switch first, in state 0 and virtual channel 0;
// the rest, and all from there on, by shortest paths in state and channel 1.
class DetourPaths : public PathModel {
 public:
  DetourPaths(const topologies::Topology& topology, const RoutingTable& table, double share = 1)
      : topology_(topology), minimal_(table), share_(share) {}
  void starts(std::uint32_t source, std::uint32_t destination,
              std::vector<PathStart>& starts) const override {
    if (share_ == 0 || share_switch(topology_, source, destination)) {
      starts.push_back({.share = 1, .state = 1});
      return;
    }
    starts.push_back({.share = share_, .state = 0, .by_detour = true});
    if (share_ < 1) starts.push_back({.share = 1 - share_, .state = 1});
  }
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    const std::size_t first = steps.size();
    minimal_.steps(at, state, host, steps);
    for (std::size_t i = first; i < steps.size(); ++i) steps[i].virtual_channel = state;
  }
  PathState behind_detour(PathState) const override { return 1; }
  std::uint32_t states() const override { return 2; }
  std::uint32_t virtual_channels() const override { return 2; }
  bool tells_hosts_apart() const override { return false; }

 private:
  const topologies::Topology& topology_;
  const MinimalPaths minimal_;
  const double share_;
};

// One shortest path: the choice that the destination's number says.
class NumberedPaths : public PathModel {
 public:
  explicit NumberedPaths(const RoutingTable& table) : table_(table) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    const Candidates candidates = table_.candidates(at, host);
    if (candidates.empty()) return;
    steps.push_back({.channel = candidates[host % candidates.size()], .share = 1, .state = state});
  }

 private:
  const RoutingTable& table_;
};

// On a ring of switches numbered round it, upwards only or the shorter way; packets change to virtual channel
// 1 with the link that leads over the end of the numbers.
class DatelinePaths : public PathModel {
 public:
  DatelinePaths(const topologies::Topology& topology, bool shorter)
      : topology_(topology), shorter_(shorter), places_(topology.switches()) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    const auto nic = topology_.out_channels(topology_.host(host))[0];
    const std::uint32_t here = topology_.node(at).index;
    const std::uint32_t there = topology_.node(topology_.channels()[nic].to).index;
    if (here == there) {
      steps.push_back({.channel = nic ^ 1, .state = state});
      return;
    }
    const std::uint32_t up = (there + places_ - here) % places_;
    const bool upwards = !shorter_ || 2 * up <= places_;
    const std::uint32_t next = upwards ? (here + 1) % places_ : (here + places_ - 1) % places_;
    const bool over = upwards ? next == 0 : here == 0;
    const PathState behind = over ? 1 : state;
    for (const std::uint32_t c : topology_.out_channels(at)) {
      const topologies::Node& to = topology_.node(topology_.channels()[c].to);
      if (to.kind != topologies::NodeKind::kSwitch || to.index != next) continue;
      steps.push_back({.channel = c, .state = behind, .virtual_channel = behind});
      return;
    }
  }
  std::uint32_t states() const override { return 2; }
  std::uint32_t virtual_channels() const override { return 2; }
  bool tells_hosts_apart() const override { return false; }

 private:
  const topologies::Topology& topology_;
  const bool shorter_;
  const std::uint32_t places_;
};

// In a dragonfly with one link between every two groups, with that link only; by none, a third group, or a
// host's switch. States: 0, or 1 + the third group.
class GroupPaths : public PathModel {
 public:
  enum class Detour { kNone, kGroup, kHost };
  GroupPaths(const topologies::Topology& topology, Detour detour) : topology_(topology), detour_(detour) {
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      groups_ = std::max(groups_, topology.node(topology.switch_at(s)).group + 1);
    }
  }
  void starts(std::uint32_t source, std::uint32_t destination,
              std::vector<PathStart>& starts) const override {
    const std::uint32_t here = group(switch_of(source)), there = group(switch_of(destination));
    if (detour_ == Detour::kHost && switch_of(source) != switch_of(destination)) {
      starts.push_back({.by_detour = true});
    } else if (detour_ == Detour::kGroup && here != there) {
      for (std::uint32_t g = 0; g < groups_; ++g) {
        if (g == here || g == there) continue;
        starts.push_back({.share = 1.0 / (groups_ - 2), .state = static_cast<PathState>(1 + g)});
      }
    } else {
      starts.push_back({});
    }
  }
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    const topologies::Vertex to = switch_of(host);
    if (at == to && state == 0) {
      steps.push_back({.channel = topology_.out_channels(topology_.host(host))[0] ^ 1});
      return;
    }
    const std::uint32_t goal = state == 0 ? group(to) : state - 1u;
    std::uint32_t channel = 0;
    if (group(at) == goal) {
      channel = link(at, [&](std::uint32_t v) { return v == to; });
    } else if (!find(
                   at, [&](std::uint32_t v) { return group(v) == goal; }, channel)) {
      // The router of this group that has the link there.
      channel = link(at, [&](std::uint32_t v) {
        std::uint32_t unused;
        return group(v) == group(at) && find(
                                            v, [&](std::uint32_t w) { return group(w) == goal; }, unused);
      });
    }
    const bool arrives = group(topology_.channels()[channel].to) == goal;
    steps.push_back({.channel = channel, .state = arrives ? PathState{0} : state});
  }
  std::uint32_t states() const override { return 1 + (detour_ == Detour::kGroup ? groups_ : 0); }
  bool tells_hosts_apart() const override { return false; }

 private:
  std::uint32_t group(topologies::Vertex v) const { return topology_.node(v).group; }
  topologies::Vertex switch_of(std::uint32_t host) const {
    return topology_.channels()[topology_.out_channels(topology_.host(host))[0]].to;
  }
  template <typename Fits>
  bool find(topologies::Vertex at, const Fits& fits, std::uint32_t& channel) const {
    for (const std::uint32_t c : topology_.out_channels(at)) {
      const std::uint32_t to = topology_.channels()[c].to;
      if (topology_.node(to).kind != topologies::NodeKind::kSwitch || !fits(to)) continue;
      channel = c;
      return true;
    }
    return false;
  }
  template <typename Fits>
  std::uint32_t link(topologies::Vertex at, const Fits& fits) const {
    std::uint32_t channel = UINT32_MAX;
    find(at, fits, channel);
    return channel;
  }

  const topologies::Topology& topology_;
  const Detour detour_;
  std::uint32_t groups_ = 0;
};

// Every way from a switch to a host, step by step, by plain recursion. `leaves(vertex)`: the way ends there;
// else at the host. see(channels and virtual channels, last vertex, last state, share).
struct PlainWalk {
  using Hop = std::pair<std::uint32_t, std::uint8_t>;
  const topologies::Topology& topology;
  const PathModel& model;
  std::uint32_t host;
  std::function<bool(std::uint32_t)> leaves;
  std::function<void(const std::vector<Hop>&, std::uint32_t, PathState, double)> see;

  void go(std::uint32_t at, PathState state, double share, std::vector<Hop>& hops) const {
    if (at == topology.host(host) || leaves(at)) return see(hops, at, state, share);
    std::vector<PathStep> steps;
    model.steps(at, state, host, steps);
    for (const PathStep& step : steps) {
      hops.push_back({step.channel, step.virtual_channel});
      go(topology.channels()[step.channel].to, step.state, share * step.share, hops);
      hops.pop_back();
    }
  }
};

// Every way of a pair: for each NIC on minimal paths, each start and each intermediate host.
// see(the NIC's channel and what follows, where in it a detour ends or its length, share).
inline void each_way(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
                     std::uint32_t source, std::uint32_t destination,
                     const std::function<void(const std::vector<PlainWalk::Hop>&, double)>& see) {
  using Hops = std::vector<PlainWalk::Hop>;
  std::vector<PathStart> starts;
  model.starts(source, destination, starts);
  const auto from = [&](std::uint32_t target, double share, const auto& then) {
    const Candidates nics = table.candidates(topology.host(source), target);
    for (const std::uint32_t nic : nics) {
      Hops hops = {{nic, 0}};
      then(hops, topology.channels()[nic].to, share / static_cast<double>(nics.size()));
    }
  };
  const auto never = [](std::uint32_t) { return false; };
  const auto straight = [&](PathState state, double share) {
    from(destination, share, [&](Hops& hops, std::uint32_t at, double part) {
      PlainWalk{topology, model, destination, never,
                [&](const Hops& way, std::uint32_t, PathState, double each) { see(way, each); }}
          .go(at, state, part, hops);
    });
  };
  for (const PathStart& start : starts) {
    if (!start.by_detour) {
      straight(start.state, start.share);
      continue;
    }
    const double each = start.share / topology.hosts();
    for (std::uint32_t via = 0; via < topology.hosts(); ++via) {
      if (share_switch(topology, via, source) || share_switch(topology, via, destination)) {
        straight(model.behind_detour(start.state), each);
        continue;
      }
      const auto at_via = [&](std::uint32_t v) {
        for (const std::uint32_t c : topology.out_channels(topology.host(via))) {
          if (topology.channels()[c].to == v) return true;
        }
        return false;
      };
      from(via, each, [&](Hops& hops, std::uint32_t at, double part) {
        PlainWalk{topology, model, via, at_via,
                  [&](const Hops& way, std::uint32_t there, PathState state, double come) {
                    Hops on = way;
                    PlainWalk{topology, model, destination, never,
                              [&](const Hops& all, std::uint32_t, PathState, double left) { see(all, left); }}
                        .go(there, model.behind_detour(state), come, on);
                  }}
            .go(at, start.state, part, hops);
      });
    }
  }
}

}  // namespace weft::routing
