#include "sim/routing/policies/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/routing/parts/route_file.h"
#include "sim/routing/source_route.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

struct Way {
  SourceRoute route;
  double weight = 1;
};
using Pair = std::pair<std::uint32_t, std::uint32_t>;  // source, destination

// The ways of a file.
class UserRoutes {
 public:
  explicit UserRoutes(const PlanSetup& setup) : topology_(setup.topology) {
    RouteFile file(setup.parameters, topology_);
    while (file.next()) read_line(file);
    if (ways_.empty()) throw InputError({.file = file.at().file}, "there is no line in this file");
  }

  const std::map<Pair, std::vector<Way>>& all() const { return ways_; }
  // Finds the ways of a pair; null: it has none.
  const std::vector<Way>* find(std::uint32_t source, std::uint32_t destination) const {
    const auto found = ways_.find({source, destination});
    return found == ways_.end() ? nullptr : &found->second;
  }

 private:
  void read_line(const RouteFile& file) {
    const auto& words = file.words();
    const auto kind = [&](std::size_t i) { return topology_.node(words[i].node).kind; };
    bool fits = words.size() >= 3 && kind(0) == NodeKind::kHost && kind(1) == NodeKind::kHost &&
                words[0].node != words[1].node;
    for (std::size_t i = 0; fits && i < words.size(); ++i) {
      fits = (i < 2 || kind(i) == NodeKind::kSwitch) && (i + 1 == words.size() || words[i].weight == 0);
    }
    if (!fits) {
      file.fail_expecting(
          "two different hosts, and the switches from one to the other, like 'h0 h5 s0 s4 s1 =2'");
    }
    std::vector<Vertex> switches;
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (std::ranges::find(switches, words[i].node) != switches.end()) {
        file.fail(fmt::format("{} is there twice", file.name(words[i].node)));
      }
      switches.push_back(words[i].node);
    }
    for (const std::size_t end : {0, 1}) {
      if (topology_.out_channels(words[end].node).size() == 1) continue;
      file.fail(fmt::format("{} has {} cables, and routes are for hosts that have one",
                            file.name(words[end].node), topology_.out_channels(words[end].node).size()));
    }
    const std::uint32_t source = topology_.node(words[0].node).index;
    const std::uint32_t destination = topology_.node(words[1].node).index;
    Way way{.weight = words.back().weight == 0 ? 1 : words.back().weight};
    try {
      way.route = route_over(topology_, source, 0, switches, destination);
    } catch (const InputError& error) {
      file.fail(error.what());
    }
    ways_[{source, destination}].push_back(way);
  }

  const Topology& topology_;
  std::map<Pair, std::vector<Way>> ways_;
};

class Routes final : public PathSelector {
 public:
  // `ways`: null: it has none.
  Routes(const std::vector<Way>* ways, bool per_packet, const PathSetup& setup)
      : ways_(ways), per_packet_(per_packet), random_(setup.random) {
    entropy_ = static_cast<std::uint32_t>(random_.next());
    if (ways_ == nullptr) return;
    for (const Way& way : *ways_) sum_ += way.weight;
    way_ = draw();
  }
  Path next(const PathRequest&) override {
    if (ways_ == nullptr) return {.entropy = entropy_};
    if (per_packet_) way_ = draw();
    return {.entropy = entropy_, .route_checked = true, .route = &(*ways_)[way_].route};
  }
  void on_timeout(Time) override {
    if (ways_ != nullptr) way_ = (way_ + 1) % ways_->size();
  }

 private:
  std::size_t draw() {
    constexpr double kPerUnit = 1.0 / 9007199254740992.0;  // 2^53
    double left = static_cast<double>(random_.next() >> 11) * kPerUnit * sum_;
    std::size_t way = 0;
    for (; way + 1 < ways_->size(); ++way) {
      left -= (*ways_)[way].weight;
      if (left < 0) break;
    }
    return way;
  }

  const std::vector<Way>* const ways_;
  const bool per_packet_;
  sim::RandomStream random_;
  std::uint32_t entropy_ = 0;
  double sum_ = 0;
  std::size_t way_ = 0;
};

bool per_packet(const Parameters& parameters) { return parameters.text("per") == "packet"; }

PathSelectorMaker make_routes_selectors(const PlanSetup& plan) {
  return [routes = std::make_shared<const UserRoutes>(plan),
          per_packet = per_packet(plan.parameters)](const PathSetup& setup) -> std::unique_ptr<PathSelector> {
    return std::make_unique<Routes>(routes->find(setup.source, setup.destination), per_packet, setup);
  };
}

// State 0: by shortest paths. The ways to one host are dealt out to the others so that in each of them, what
// is next follows from the switch.
class RoutesPaths final : public PathModel {
 public:
  explicit RoutesPaths(const PlanSetup& setup) : topology_(setup.topology), minimal_(setup.table) {
    const UserRoutes routes(setup);
    (void)per_packet(setup.parameters);
    for (const auto& [pair, ways] : routes.all()) {
      double sum = 0;
      for (const Way& way : ways) sum += way.weight;
      for (const Way& way : ways) {
        starts_[pair].push_back({.share = way.weight / sum, .state = add(pair, way.route)});
      }
    }
  }
  void starts(std::uint32_t source, std::uint32_t destination,
              std::vector<PathStart>& starts) const override {
    const auto found = starts_.find({source, destination});
    if (found == starts_.end()) return starts.push_back({});
    starts.insert(starts.end(), found->second.begin(), found->second.end());
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    if (state == 0) return minimal_.steps(at, state, host, steps);
    const auto found = next_.find({host, state, at});
    if (found != next_.end()) steps.push_back({.channel = found->second, .state = state});
  }
  std::uint32_t states() const override { return kMostStates; }

 private:
  using Place = std::tuple<std::uint32_t, PathState, Vertex>;  // destination, state, switch

  PathState add(const Pair& pair, const SourceRoute& route) {
    std::vector<std::pair<Vertex, std::uint32_t>> hops;
    Vertex at = topology_.channels()[topology_.out_channels(topology_.host(pair.first))[0]].to;
    for (std::uint16_t i = 0; i < route.length; ++i) {
      const std::uint32_t channel = topology_.out_channels(at)[route.ports[i]];
      hops.emplace_back(at, channel);
      at = topology_.channels()[channel].to;
    }
    for (PathState state = 1; state < kMostStates; ++state) {
      const bool fits = std::ranges::all_of(hops, [&](const auto& hop) {
        const auto known = next_.find({pair.second, state, hop.first});
        return known == next_.end() || known->second == hop.second;
      });
      if (!fits) continue;
      for (const auto& [node, channel] : hops) next_[{pair.second, state, node}] = channel;
      return state;
    }
    throw InputError(
        fmt::format("routing policy routes: the ways to {} part from each other in so many ways that "
                    "they can't be told, or checked for deadlocks; packets can be sent there",
                    topology_.node(topology_.host(pair.second)).name));
  }

  const Topology& topology_;
  const MinimalPaths minimal_;
  std::map<Pair, std::vector<PathStart>> starts_;
  std::map<Place, std::uint32_t> next_;  // channels
};

std::string routes_remark(const PlanSetup& setup) {
  const double hosts = setup.topology.hosts();
  const double pairs = hosts * (hosts - 1), told = static_cast<double>(UserRoutes(setup).all().size());
  if (told == pairs) return "";
  return fmt::format("{} has ways for {:.4g}% of the pairs of hosts; others go by shortest paths",
                     setup.parameters.file("file"), 100 * told / pairs);
}

}  // namespace

Policy routes() {
  return {
      .info = {.name = "routes",
               .summary =
                   "Source routes from a file, shared out among a pair's flows; shortest paths for pairs "
                   "without one.",
               .source =
                   "C. A. Sunshine, Source routing in computer networks, ACM Comput. Commun. Rev. 7(1), 1977",
               .parameters =
                   {{"file", ParameterType::kFile, "",
                     "Lines 'SOURCE DESTINATION SWITCH …[=WEIGHT]': names as weft topo has them, in "
                     "quotes if they have blanks, or h0, s0; # begins a comment."},
                    {"per", ParameterType::kText, "flow",
                     "What takes one of its pair's ways: flow, or packet.", one_of({"flow", "packet"})}}},
      .configure =
          [](const Parameters& parameters, Policy& policy) {
            if (per_packet(parameters)) policy.order = KeepsOrder::kNo;
          },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<RoutesPaths>(setup);
      },
      .make_path_selectors = make_routes_selectors,
      .fluid = FluidPaths::kModel,
      .order = KeepsOrder::kYes,
      .longest_path = 4,
      .source_routes = true,
      .leads_to_hosts = true,
      .remark = routes_remark};
}

}  // namespace weft::routing
