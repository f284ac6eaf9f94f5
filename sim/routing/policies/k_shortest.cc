#include "sim/routing/policies/k_shortest.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/parts/random_route.h"
#include "sim/routing/parts/route_finder.h"
#include "sim/routing/parts/shortest_routes.h"
#include "sim/routing/source_route.h"
#include "sim/units/input_error.h"

namespace weft::routing {
namespace {

using topologies::Topology;
using topologies::Vertex;

enum class Kind : std::uint8_t { kShortest, kDisjoint };

struct KShortestSettings {
  Kind kind = Kind::kShortest;
  std::size_t ways = 0;
  bool per_flow = true;
};

bool is_per_flow(const Parameters& parameters) { return parameters.text("per") == "flow"; }

KShortestSettings k_shortest_settings_of(const Parameters& parameters, Kind kind) {
  return {.kind = kind,
          .ways = static_cast<std::size_t>(parameters.integer("k")),
          .per_flow = is_per_flow(parameters)};
}

std::uint32_t most_on_a_way(const Topology& topology) {
  const std::uint32_t limit = SourceRoute::kMost;
  return std::min(2 * most_switches(topology, limit), limit);
}

// The ways of all pairs of hosts: for a run's connections, and for who asks without a run.
class Ways {
 public:
  Ways(const PlanSetup& setup, const KShortestSettings& settings)
      : topology_(setup.topology),
        settings_(settings),
        seed_(setup.seed),
        finder_(setup.topology, most_on_a_way(setup.topology)) {}

  // Throws InputError where there is none that a source route can name.
  std::vector<ChannelWay> between(std::uint32_t source, std::uint32_t destination) {
    constexpr std::uint64_t kPurpose = 0x4A75;
    const Vertex from = topology_.host(source), to = topology_.host(destination);
    // Hosts on the same switches have the same ways.
    const sim::RandomStream random(seed_, std::uint64_t{switch_of(from)} << 32 | switch_of(to), kPurpose);
    std::vector<ChannelWay> ways = settings_.kind == Kind::kShortest
                                       ? finder_.k_shortest(source, destination, settings_.ways, random)
                                       : finder_.edge_disjoint(source, destination, settings_.ways, random);
    if (!ways.empty()) return ways;
    const std::uint8_t distance = finder_.distance(source, destination);
    if (distance > SourceRoute::kMost && distance != HostDistances::kNoWay) {
      fail_too_long(topology_, from, to, distance);
    }
    throw InputError(
        fmt::format("there is no way from {} to {}", topology_.node(from).name, topology_.node(to).name));
  }
  const Topology& topology() const { return topology_; }
  bool per_flow() const { return settings_.per_flow; }

 private:
  std::uint32_t switch_of(Vertex host) const {
    return topology_.channels()[topology_.out_channels(host)[0]].to;
  }

  const Topology& topology_;
  const KShortestSettings settings_;
  const std::uint64_t seed_;
  RouteFinder finder_;
};

class NamedWays final : public PathSelector {
 public:
  NamedWays(Ways& ways, const PathSetup& setup) : per_flow_(ways.per_flow()) {
    sim::RandomStream random = setup.random;
    std::vector<ChannelWay> all = ways.between(setup.source, setup.destination);
    turn_ = random.below(all.size());
    if (per_flow_) {
      all = {std::move(all[turn_])};
      turn_ = 0;
    }
    for (const ChannelWay& way : all) {
      ways_.push_back({.entropy = static_cast<std::uint32_t>(random.next())});
      name(ways.topology(), way, ways_.back());
    }
  }
  Path next(const PathRequest&) override {
    const Named& way = ways_[turn_];
    turn_ = turn_ + 1 == ways_.size() ? 0 : turn_ + 1;
    return {.entropy = way.entropy, .nic = way.nic, .route_checked = true, .route = &way.route};
  }

 private:
  struct Named {
    SourceRoute route;
    std::uint32_t entropy = 0;
    std::uint8_t nic = Path::kAnyNic;
  };

  static void name(const Topology& topology, const ChannelWay& way, Named& named) {
    const auto nics = topology.out_channels(topology.channels()[way.front()].from);
    if (nics.size() > 1) named.nic = static_cast<std::uint8_t>(port_of(topology, way.front()));
    for (std::size_t i = 1; i < way.size(); ++i) append_channel(topology, way[i], named.route);
  }

  const bool per_flow_;
  std::vector<Named> ways_;  // never changed once it is handed out
  std::size_t turn_ = 0;
};

class KShortestPaths final : public NamedPaths {
 public:
  KShortestPaths(const PlanSetup& setup, const KShortestSettings& settings) : ways_(setup, settings) {}
  void ways(std::uint32_t source, std::uint32_t destination, std::vector<NamedWay>& ways) const override {
    std::vector<ChannelWay> found = ways_.between(source, destination);
    const double share = 1.0 / static_cast<double>(found.size());
    for (ChannelWay& way : found) ways.push_back({.share = share, .channels = std::move(way)});
  }
  bool tells_hosts_apart() const override { return false; }

 private:
  mutable Ways ways_;  // which keeps what it has searched; may be asked from several threads
};

template <Kind kind>
PathSelectorMaker make_k_shortest_selectors(const PlanSetup& setup) {
  return [ways = std::make_shared<Ways>(setup, k_shortest_settings_of(setup.parameters, kind))](
             const PathSetup& path) { return std::make_unique<NamedWays>(*ways, path); };
}

template <Kind kind>
std::unique_ptr<PathModel> make_k_shortest_paths(const PlanSetup& setup) {
  return std::make_unique<KShortestPaths>(setup, k_shortest_settings_of(setup.parameters, kind));
}

template <Kind kind>
Policy policy(ModuleInfo info) {
  info.parameters = {{"k", ParameterType::kInteger, "8", "Ways between two hosts.", from_to("1", "256")},
                     {"per", ParameterType::kText, "flow",
                      "What takes one of them: flow, or packet, in turn.", one_of({"flow", "packet"})}};
  return {.info = std::move(info),
          .configure =
              [](const Parameters& parameters, Policy& policy) {
                policy.order = is_per_flow(parameters) ? KeepsOrder::kYes : KeepsOrder::kNo;
              },
          .make_paths = make_k_shortest_paths<kind>,
          .make_path_selectors = make_k_shortest_selectors<kind>,
          .selectors_want_feedback = false,
          .fluid = FluidPaths::kModel,
          .for_packets = {"per"},
          .order = KeepsOrder::kYes,
          .longest_path = 2,
          .source_routes = true,
          .all_nics = true};
}

}  // namespace

Policy k_shortest() {
  return policy<Kind::kShortest>(
      {.name = "k_shortest",
       .summary = "Each flow, or packet, takes one of the k shortest ways, which its source names.",
       .source = "A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, Jellyfish: networking data centers "
                 "randomly, NSDI 2012; J. Y. Yen, Management Science 17(11), 1971"});
}

Policy edge_disjoint() {
  return policy<Kind::kDisjoint>(
      {.name = "edge_disjoint",
       .summary = "Each flow, or packet, takes one of k ways that share no link, which its source names.",
       .source = "J. W. Suurballe, Disjoint paths in a network, Networks 4, 1974"});
}

}  // namespace weft::routing
