#include "sim/routing/policies/lash.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/routing/policies/channel_graph.h"
#include "sim/routing/policies/pair_routes.h"

namespace weft::routing {
namespace {

// Where a search for a circle ends: so many steps, and it counts as one.
constexpr std::uint32_t kMostSteps = 1 << 9;

// The dependencies of one virtual channel, without circles: an order of the channels that they all follow,
// kept up as they are added (D. J. Pearce, P. H. J. Kelly, A dynamic topological sort algorithm for directed
// acyclic graphs, ACM JEA 11, 2006).
class Layer {
 public:
  // `present`: by step, with this bit those that are there.
  Layer(const ChannelGraph& graph, const std::vector<std::uint16_t>& present, std::uint32_t bit)
      : graph_(graph), present_(present), bit_(bit), order_(graph.channels()), seen_(graph.channels()) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  // Could the second wait for the first, or does that close a circle? If not the order allows for it.
  bool admit(std::uint32_t from, std::uint32_t to) {
    if (order_[from] < order_[to]) return true;
    ahead_.clear();
    behind_.clear();
    const bool fits = look_ahead(to, order_[from]);
    if (fits) look_behind(from, order_[to]);
    for (const std::uint32_t c : ahead_) seen_[c] = false;
    for (const std::uint32_t c : behind_) seen_[c] = false;
    if (fits) reorder();
    return fits;
  }

 private:
  bool is_there(std::uint32_t step) const { return present_[step] >> bit_ & 1; }
  // All that `from` leads to, up to this place in the order; false: to that place itself.
  bool look_ahead(std::uint32_t from, std::uint32_t last) {
    std::uint32_t steps = 0;
    seen_[from] = true;
    ahead_.push_back(from);
    for (std::size_t i = 0; i < ahead_.size(); ++i) {
      std::uint32_t step = graph_.first_step(ahead_[i]);
      for (const std::uint32_t c : graph_.after(ahead_[i])) {
        if (!is_there(step++) || order_[c] > last || seen_[c]) continue;
        if (order_[c] == last) return false;
        seen_[c] = true;
        ahead_.push_back(c);
      }
      steps += static_cast<std::uint32_t>(graph_.after(ahead_[i]).size());
      if (steps > kMostSteps) return false;
    }
    return true;
  }
  void look_behind(std::uint32_t to, std::uint32_t first) {
    seen_[to] = true;
    behind_.push_back(to);
    for (std::size_t i = 0; i < behind_.size(); ++i) {
      graph_.each_before(behind_[i], [&](std::uint32_t c, std::uint32_t step) {
        if (!is_there(step) || order_[c] < first || seen_[c]) return;
        seen_[c] = true;
        behind_.push_back(c);
      });
    }
  }
  // What is behind comes before what is ahead, in the places that both have.
  void reorder() {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return order_[a] < order_[b]; };
    std::ranges::sort(behind_, earlier);
    std::ranges::sort(ahead_, earlier);
    places_.clear();
    for (const std::uint32_t c : behind_) places_.push_back(order_[c]);
    for (const std::uint32_t c : ahead_) places_.push_back(order_[c]);
    std::ranges::sort(places_);
    std::size_t next = 0;
    for (const std::uint32_t c : behind_) order_[c] = places_[next++];
    for (const std::uint32_t c : ahead_) order_[c] = places_[next++];
  }

  const ChannelGraph& graph_;
  const std::vector<std::uint16_t>& present_;
  const std::uint32_t bit_;
  std::vector<std::uint32_t> order_;  // by channel: its place
  std::vector<bool> seen_;            // by channel
  std::vector<std::uint32_t> ahead_, behind_, places_;
};

class Layers {
 public:
  explicit Layers(PairRoutes& routes)
      : routes_(routes),
        graph_(routes.topology()),
        present_(graph_.steps()),
        barred_(graph_.steps()),
        there_(routes.topology().switches()),
        not_there_(routes.topology().switches()) {}

  // False: there would be more layers than there may be.
  bool deal() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t d = 0; d < routes_.destinations().size(); ++d) {
      for (const std::uint32_t s : routes_.destinations().switches(d)) {
        there_[s] = kAll;
        not_there_[s] = 0;
      }
      order.clear();
      routes_.order(d, order);
      for (const std::uint32_t s : order) {
        if (!deal(s, d)) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::uint16_t kAll = (1 << PairRoutes::kMostLayers) - 1;

  bool deal(std::uint32_t s, std::uint32_t destination) {
    const std::uint32_t next = routes_.next(s, destination), t = routes_.end(next);
    const std::uint32_t then = routes_.next(t, destination);
    there_[s] = there_[t];
    not_there_[s] = not_there_[t];
    if (then != PairRoutes::kNone) {
      const std::uint32_t step = graph_.step(next, then);
      there_[s] &= present_[step];
      not_there_[s] |= barred_[step];
    }
    if (!routes_.destinations().is_source(s)) return true;
    for (unsigned left = kAll & ~unsigned{not_there_[s]}; left != 0; left &= left - 1) {
      const auto layer = static_cast<std::uint32_t>(std::countr_zero(left));
      if (!(there_[s] >> layer & 1) && !enter(s, destination, layer)) continue;
      routes_.set_layer(s, destination, layer);
      return true;
    }
    return false;
  }
  // Adds the steps of a way to a layer, if they close no circle there.
  bool enter(std::uint32_t s, std::uint32_t destination, std::uint32_t layer) {
    const auto bit = static_cast<std::uint16_t>(1 << layer);
    while (layers_.size() <= layer) {
      layers_.emplace_back(graph_, present_, static_cast<std::uint32_t>(layers_.size()));
    }
    added_.clear();
    std::uint32_t at = routes_.next(s, destination);
    for (;;) {
      const std::uint32_t then = routes_.next(routes_.end(at), destination);
      if (then == PairRoutes::kNone) return true;
      const std::uint32_t step = graph_.step(at, then);
      if (!(present_[step] & bit)) {
        if ((barred_[step] & bit) || !layers_[layer].admit(at, then)) {
          // A circle that takes none of the way's other steps is there for good.
          if (added_.empty()) barred_[step] |= bit;
          for (const std::uint32_t other : added_) present_[other] &= static_cast<std::uint16_t>(~bit);
          return false;
        }
        present_[step] |= bit;
        added_.push_back(step);
      }
      at = then;
    }
  }

  PairRoutes& routes_;
  const ChannelGraph graph_;
  // By step, a bit for each layer: it is there; it would close a circle.
  std::vector<std::uint16_t> present_, barred_;
  std::vector<std::uint16_t> there_,
      not_there_;  // by switch, the same of all steps of its way: at least these
  std::vector<Layer> layers_;
  std::vector<std::uint32_t> added_;
};

constexpr Dealer kDealer = {"lash", [](PairRoutes& routes) { return Layers(routes).deal(); }};

}  // namespace

Policy lash() {
  Policy policy = over_pair_routes(
      {.name = "lash",
       .summary =
           "Lossless networks of any shape: a shortest path for each pair of switches, in the first virtual "
           "channel where it lets no packets wait in a circle.",
       .source =
           "T. Skeie, O. Lysne, I. Theiss, Layered shortest path (LASH) routing in irregular system area "
           "networks, IPDPS 2002",
       .parameters = {}});
  policy.make_plan = [](const PlanSetup& setup) { return pair_plan(setup, kDealer); };
  policy.make_paths = [](const PlanSetup& setup) { return pair_paths(setup, kDealer); };
  return policy;
}

}  // namespace weft::routing
