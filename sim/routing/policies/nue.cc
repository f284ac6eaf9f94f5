#include "sim/routing/policies/nue.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/routing/parts/channel_graph.h"
#include "sim/routing/parts/channel_order.h"
#include "sim/routing/parts/pair_routes.h"
#include "sim/routing/table/switch_links.h"

namespace weft::routing {
namespace {

class NueLayers {
 public:
  NueLayers(PairRoutes& routes, std::uint32_t count)
      : routes_(routes),
        graph_(routes.topology()),
        present_(graph_.steps()),
        barred_(graph_.steps()),
        arcs_(routes.topology().switches()),
        load_(graph_.channels()),
        next_(routes.topology().switches()) {
    const topologies::Topology& topology = routes.topology();
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      const auto out = topology.out_channels(topology.switch_at(s));
      for (std::uint32_t port = 0; port < out.size(); ++port) {
        const topologies::Node& end = topology.node(topology.channels()[out[port]].to);
        if (end.kind != topologies::NodeKind::kSwitch || is_down(routes.down_links(), out[port])) continue;
        arcs_[s].push_back({end.index, out[port], port});
      }
    }
    grow_tree();
    for (std::uint32_t layer = 0; layer < count; ++layer) {
      orders_.emplace_back(graph_, present_, layer);
      add_tree(layer);
    }
  }

  void deal() {
    for (std::uint32_t d = 0; d < routes_.destinations().size(); ++d) {
      const auto layer = static_cast<std::uint32_t>(d % orders_.size());
      if (!search(d, layer)) follow_tree(d);
      for (std::uint32_t s = 0; s < arcs_.size(); ++s) {
        routes_.set_port(s, d, next_[s] == nullptr ? PairRoutes::kNone : next_[s]->port);
        if (next_[s] != nullptr) routes_.set_layer(s, d, layer);
      }
      add_loads(d);
    }
  }

 private:
  // A link between switches, from where it is stored.
  struct Arc {
    std::uint32_t to = 0, channel = 0, port = 0;
    bool in_tree = false;
  };
  // Links and load up to the destination, and a switch with the link that it would take.
  using Candidate = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, const Arc*>;

  // Breadth first from the switch with the most links, in each part of the network.
  void grow_tree() {
    std::vector<std::uint32_t> roots(arcs_.size()), order;
    for (std::uint32_t s = 0; s < arcs_.size(); ++s) roots[s] = s;
    std::ranges::stable_sort(roots, std::ranges::greater{}, [&](std::uint32_t s) { return arcs_[s].size(); });
    std::vector<bool> known(arcs_.size());
    for (const std::uint32_t root : roots) {
      if (known[root]) continue;
      known[root] = true;
      order.assign(1, root);
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (Arc& arc : arcs_[order[i]]) {
          if (known[arc.to]) continue;
          known[arc.to] = true;
          arc.in_tree = true;
          std::ranges::find(arcs_[arc.to], arc.channel ^ 1, &Arc::channel)->in_tree = true;
          order.push_back(arc.to);
        }
      }
    }
  }
  void add_tree(std::uint32_t layer) {
    for (const std::vector<Arc>& arcs : arcs_) {
      for (const Arc& in : arcs) {
        for (const Arc& out : arcs) {
          if (!in.in_tree || !out.in_tree || &in == &out) continue;
          // They close no circle, so they can't be refused.
          (void)orders_[layer].admit(in.channel ^ 1, out.channel, ChannelOrder::kNoEnd);
          present_[graph_.step(in.channel ^ 1, out.channel)] |= static_cast<std::uint16_t>(1 << layer);
        }
      }
    }
  }
  // Adds the step to a layer, if it closes no circle there.
  bool enter(std::uint32_t from, std::uint32_t to, std::uint32_t layer) {
    const std::uint32_t step = graph_.step(from, to);
    const auto bit = static_cast<std::uint16_t>(1 << layer);
    if (present_[step] & bit) return true;
    if (barred_[step] & bit) return false;
    std::uint16_t& fate = orders_[layer].admit(from, to) ? present_[step] : barred_[step];
    fate |= bit;
    return (present_[step] & bit) != 0;
  }

  // The shortest ways that can be had; false: not from all switches with hosts that have any.
  bool search(std::uint32_t destination, std::uint32_t layer) {
    std::ranges::fill(next_, nullptr);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
    std::vector<bool> known(arcs_.size());
    const auto reach = [&](std::uint32_t t, std::uint32_t links, std::uint64_t load) {
      known[t] = true;
      for (const Arc& back : arcs_[t]) {
        if (known[back.to]) continue;
        const auto arc = std::ranges::find(arcs_[back.to], back.channel ^ 1, &Arc::channel);
        open.emplace(links + 1, load + load_[arc->channel], back.to, &*arc);
      }
    };
    for (const std::uint32_t s : routes_.destinations().switches(destination)) reach(s, 0, 0);
    while (!open.empty()) {
      const auto [links, load, s, arc] = open.top();
      open.pop();
      if (known[s] || (next_[arc->to] != nullptr && !enter(arc->channel, next_[arc->to]->channel, layer))) {
        continue;
      }
      next_[s] = arc;
      reach(s, links, load);
    }
    return std::ranges::none_of(arcs_, [&](const std::vector<Arc>& arcs) {
      const auto s = static_cast<std::uint32_t>(&arcs - arcs_.data());
      const auto is_known = [&](const Arc& arc) { return known[arc.to]; };
      return !known[s] && std::ranges::any_of(arcs, is_known);
    });
  }
  void follow_tree(std::uint32_t destination) {
    std::ranges::fill(next_, nullptr);
    const auto ends = routes_.destinations().switches(destination);
    std::vector<std::uint32_t> order(ends.begin(), ends.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Arc& back : arcs_[order[i]]) {
        if (!back.in_tree || next_[back.to] != nullptr || std::ranges::binary_search(ends, back.to)) continue;
        next_[back.to] = &*std::ranges::find(arcs_[back.to], back.channel ^ 1, &Arc::channel);
        order.push_back(back.to);
      }
    }
  }
  void add_loads(std::uint32_t destination) {
    for (std::uint32_t s = 0; s < arcs_.size(); ++s) {
      const std::uint64_t pairs =
          std::uint64_t{routes_.destinations().hosts_at(s)} * routes_.destinations().hosts(destination);
      if (pairs == 0) continue;
      for (const Arc* arc = next_[s]; arc != nullptr; arc = next_[arc->to]) load_[arc->channel] += pairs;
    }
  }

  PairRoutes& routes_;
  const ChannelGraph graph_;
  std::vector<std::uint16_t> present_, barred_;  // by step, a bit for each layer
  std::vector<std::vector<Arc>> arcs_;           // by switch
  std::vector<std::uint64_t> load_;              // by channel: pairs of hosts that go there
  std::vector<const Arc*> next_;                 // by switch, to the destination that is looked at
  std::vector<ChannelOrder> orders_;             // by layer
};

constexpr Dealer kNueDealer = {"nue", [](PairRoutes& routes, std::uint32_t vcs) {
                                 NueLayers(routes, vcs).deal();
                                 return true;
                               }};

}  // namespace

Policy nue() {
  Policy policy = over_pair_routes<kNueDealer>(
      {.name = "nue",
       .summary =
           "Lossless networks of any shape, within as many virtual channels as there are: a path for each "
           "pair of switches, longer ones where packets would wait in a circle.",
       .source = "J. Domke, T. Hoefler, S. Matsuoka, Routing on the dependency graph: a new approach to "
                 "deadlock-free high-performance routing, HPDC 2016",
       .parameters = {}});
  policy.longest_path = 2;
  return policy;
}

}  // namespace weft::routing
