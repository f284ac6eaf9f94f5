// The worked example of a path selector that names ways hop by hop: between two leaves of a leaf-spine
// network it takes the spines in turn, and leaves out for a while the one that lost a packet.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/routing/routing.h"
#include "sim/routing/source_route.h"

namespace weft::routing {

class NamedRoutes final : public PathSelector {
 public:
  static constexpr Time kPause = Time::us(50);

  explicit NamedRoutes(const PathSetup& setup) : signals_(setup.signals) {
    const topologies::Topology& topology = *setup.topology;
    const auto leaf = [&](std::uint32_t host) {
      return topologies::Vertex{topology.channels()[topology.out_channels(topology.host(host)).front()].to};
    };
    const topologies::Vertex from = leaf(setup.source), to = leaf(setup.destination);
    if (from == to) {
      add(route_over(topology, setup.source, 0, std::vector{from}, setup.destination));
      return;
    }
    for (const std::uint32_t up : topology.out_channels(from)) {
      const topologies::Vertex spine = topology.channels()[up].to;
      if (topology.node(spine).kind == topologies::NodeKind::kHost) continue;
      add(route_over(topology, setup.source, 0, std::vector{from, spine, to}, setup.destination));
    }
  }

  Path next(const PathRequest& request) override {
    for (std::size_t tries = 0; tries < ways_.size(); ++tries) {
      const Way& way = ways_[turn_++ % ways_.size()];
      if (way.free_from <= request.now) return {.route = &way.route};
    }
    return {.route = &ways_[turn_++ % ways_.size()].route};
  }
  void on_ack(const PathNews& news) override { ++way_of(news).acknowledged; }
  void on_loss(const PathNews& news) override {
    ++signals_[0];
    way_of(news).free_from = news.now + kPause;
  }

 private:
  struct Way {
    SourceRoute route;
    Time free_from;
    std::uint64_t acknowledged = 0;
  };
  void add(const SourceRoute& route) { ways_.push_back({.route = route, .free_from = Time()}); }
  Way& way_of(const PathNews& news) {
    for (Way& way : ways_) {
      if (&way.route == news.path.route) return way;
    }
    throw std::logic_error("news of a way that was never taken");
  }

  std::vector<Way> ways_;  // never grows once it is handed out
  std::size_t turn_ = 0;
  std::uint64_t* signals_;
};

inline Policy named_routes() {
  return {.info = {.name = "named_routes",
                   .summary = "Takes the spines in turn.",
                   .source = "",
                   .parameters = {}},
          .make_path_selectors = [](const PlanSetup&) -> PathSelectorMaker {
            return [](const PathSetup& setup) { return std::make_unique<NamedRoutes>(setup); };
          },
          .source_routes = true,
          .path_signals = {"route_loss"}};
}

}  // namespace weft::routing
