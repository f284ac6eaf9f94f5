#include "sim/routing/policies/dfsssp.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/routing/parts/channel_graph.h"
#include "sim/routing/parts/pair_routes.h"

namespace weft::routing {
namespace {

// How many ways take each step in the layer that is being cleared of circles, and in the next.
class DfssspLayers {
 public:
  explicit DfssspLayers(PairRoutes& routes)
      : routes_(routes),
        graph_(routes.topology()),
        here_(graph_.steps()),
        above_(graph_.steps()),
        mark_(graph_.channels()),
        place_(graph_.channels()),
        port_(graph_.channels()) {
    const topologies::Topology& topology = routes.topology();
    for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
      const auto out = topology.out_channels(v);
      for (std::uint32_t p = 0; p < out.size(); ++p) port_[out[p]] = p;
    }
    for (std::uint32_t d = 0; d < routes.destinations().size(); ++d) count(d);
  }

  // False: there would be more layers than there may be.
  bool deal() {
    do {
      moved_ = false;
      if (!clear()) return false;
      here_.swap(above_);
      std::ranges::fill(above_, 0);
      ++layer_;
    } while (moved_);
    return true;
  }

 private:
  // A channel that the search has come to by a step of the one before.
  struct Visit {
    std::uint32_t channel = 0, by_step = 0;
    std::uint32_t next = 0;  // of its steps, to look at
  };
  enum Mark : std::uint8_t { kNew, kOpen, kDone };

  void count(std::uint32_t destination) {
    order_.clear();
    routes_.order(destination, order_);
    ways_.assign(routes_.topology().switches(), 0);
    for (std::size_t i = order_.size(); i-- > 0;) {
      const std::uint32_t s = order_[i], next = routes_.next(s, destination), t = routes_.end(next);
      ways_[s] += routes_.destinations().is_source(s);
      ways_[t] += ways_[s];
      const std::uint32_t then = routes_.next(t, destination);
      if (then != PairRoutes::kNone) here_[graph_.step(next, then)] += ways_[s];
    }
  }

  // Depth first from each channel; what is done leads to no circle, and no way is added here any more.
  bool clear() {
    std::ranges::fill(mark_, kNew);
    for (next_root_ = 0; next_root_ < graph_.channels();) {
      const std::uint32_t root = next_root_++;
      if (mark_[root] == kNew) open(root, 0);
      while (!open_.empty()) {
        go_on();
        if (moved_ && layer_ + 1 == PairRoutes::kMostLayers) return false;
      }
    }
    return true;
  }
  void open(std::uint32_t channel, std::uint32_t by_step) {
    mark_[channel] = kOpen;
    place_[channel] = static_cast<std::uint32_t>(open_.size());
    open_.push_back({channel, by_step, 0});
  }
  void go_on() {
    Visit& visit = open_.back();
    const auto after = graph_.after(visit.channel);
    while (visit.next < after.size()) {
      const std::uint32_t to = after[visit.next], step = graph_.first_step(visit.channel) + visit.next;
      ++visit.next;
      if (here_[step] == 0 || mark_[to] == kDone) continue;
      if (mark_[to] == kOpen) return break_circle(to, step);
      return open(to, step);
    }
    mark_[visit.channel] = kDone;
    open_.pop_back();
  }
  // The circle of the open channels from this one on, and a step from the last back to it.
  void break_circle(std::uint32_t first, std::uint32_t step) {
    const std::uint32_t place = place_[first];
    std::uint32_t from = open_.back().channel, to = first, weakest = step;
    for (std::size_t i = open_.size() - 1; i > place; --i) {
      if (here_[open_[i].by_step] >= here_[weakest]) continue;
      weakest = open_[i].by_step;
      from = open_[i - 1].channel;
      to = open_[i].channel;
    }
    move(from, to);
    // What is left of the way that the search came.
    std::size_t left = 1;
    while (left < open_.size() && here_[open_[left].by_step] > 0) ++left;
    for (std::size_t i = left; i < open_.size(); ++i) {
      mark_[open_[i].channel] = kNew;
      next_root_ = std::min(next_root_, open_[i].channel);
    }
    open_.resize(left);
  }
  // All ways of this layer that go from one channel to the other move to the next.
  void move(std::uint32_t from, std::uint32_t to) {
    const topologies::Channel& channel = routes_.topology().channels()[from];
    const std::uint32_t s = routes_.topology().node(channel.from).index, t = routes_.end(from);
    const std::uint32_t port = port_[from], next_port = port_[to];
    moved_ = true;
    if (layer_ + 1 == PairRoutes::kMostLayers) return;
    for (std::uint32_t d = 0; d < routes_.destinations().size(); ++d) {
      if (routes_.port(s, d) != port || routes_.port(t, d) != next_port) continue;
      behind_.assign(1, s);
      while (!behind_.empty()) {
        const std::uint32_t u = behind_.back();
        behind_.pop_back();
        if (routes_.destinations().is_source(u) && routes_.layer(u, d) == layer_) move_way(u, d);
        for (const std::uint32_t c : routes_.topology().out_channels(routes_.topology().switch_at(u))) {
          const topologies::Node& end = routes_.topology().node(routes_.topology().channels()[c].to);
          if (end.kind != topologies::NodeKind::kSwitch || routes_.next(end.index, d) != (c ^ 1)) continue;
          behind_.push_back(end.index);
        }
      }
    }
  }
  void move_way(std::uint32_t s, std::uint32_t destination) {
    routes_.set_layer(s, destination, layer_ + 1);
    std::uint32_t at = routes_.next(s, destination);
    for (;;) {
      const std::uint32_t then = routes_.next(routes_.end(at), destination);
      if (then == PairRoutes::kNone) return;
      const std::uint32_t step = graph_.step(at, then);
      --here_[step];
      ++above_[step];
      at = then;
    }
  }

  PairRoutes& routes_;
  const ChannelGraph graph_;
  std::vector<std::uint32_t> here_, above_;  // by step
  std::vector<Mark> mark_;                   // by channel
  std::vector<std::uint32_t> place_;         // by channel: among the open ones
  std::vector<std::uint32_t> port_;          // by channel, of the switch that it leaves
  std::vector<Visit> open_;
  std::vector<std::uint32_t> order_, ways_, behind_;
  std::uint32_t layer_ = 0, next_root_ = 0;
  bool moved_ = false;
};

constexpr Dealer kDfssspDealer = {
    "dfsssp", [](PairRoutes& routes, std::uint32_t) { return DfssspLayers(routes).deal(); }};

}  // namespace

Policy dfsssp() {
  return over_pair_routes<kDfssspDealer>(
      {.name = "dfsssp",
       .summary =
           "Lossless networks of any shape: a shortest path for each pair of switches, spread over links; "
           "virtual channels keep packets from waiting in a circle.",
       .source =
           "J. Domke, T. Hoefler, W. E. Nagel, Deadlock-free oblivious routing for arbitrary topologies, "
           "IPDPS 2011",
       .parameters = {}});
}

}  // namespace weft::routing
