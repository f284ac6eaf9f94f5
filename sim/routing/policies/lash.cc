#include "sim/routing/policies/lash.h"

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/routing/parts/channel_graph.h"
#include "sim/routing/parts/channel_order.h"
#include "sim/routing/parts/pair_routes.h"

namespace weft::routing {
namespace {

class LashLayers {
 public:
  explicit LashLayers(PairRoutes& routes)
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
  std::vector<ChannelOrder> layers_;
  std::vector<std::uint32_t> added_;
};

constexpr Dealer kLashDealer = {"lash",
                                [](PairRoutes& routes, std::uint32_t) { return LashLayers(routes).deal(); }};

}  // namespace

Policy lash() {
  return over_pair_routes<kLashDealer>(
      {.name = "lash",
       .summary =
           "Lossless networks of any shape: a shortest path for each pair of switches, in the first virtual "
           "channel where it lets no packets wait in a circle.",
       .source =
           "T. Skeie, O. Lysne, I. Theiss, Layered shortest path (LASH) routing in irregular system area "
           "networks, IPDPS 2002",
       .parameters = {}});
}

}  // namespace weft::routing
