#include "sim/routing/parts/pair_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/routing/table/switch_links.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

// The ways to one destination after another.
class PairRoutes::Trees {
 public:
  explicit Trees(PairRoutes& routes)
      : routes_(routes),
        arcs_(routes.topology_.switches()),
        load_(routes.topology_.channels().size()),
        level_(routes.topology_.switches()) {
    const Topology& topology = routes.topology_;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      const auto out = topology.out_channels(topology.switch_at(s));
      for (std::uint32_t port = 0; port < out.size(); ++port) {
        const topologies::Node& end = topology.node(topology.channels()[out[port]].to);
        if (end.kind != NodeKind::kSwitch || is_down(routes.down_links_, out[port])) continue;
        arcs_[s].push_back({end.index, out[port], static_cast<std::uint16_t>(port)});
      }
    }
  }

  void grow(std::uint32_t destination) {
    constexpr std::uint32_t kFar = UINT32_MAX;
    std::ranges::fill(level_, kFar);
    order_.clear();
    for (const std::uint32_t s : routes_.destinations_.switches(destination)) {
      level_[s] = 0;
      order_.push_back(s);
    }
    const std::size_t ends = order_.size();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t s = order_[i];
      if (i >= ends) choose(s, destination);
      for (const Arc& arc : arcs_[s]) {
        if (level_[arc.to] != kFar) continue;
        level_[arc.to] = level_[s] + 1;
        order_.push_back(arc.to);
      }
    }
  }

 private:
  // A link between switches, from where it is stored.
  struct Arc {
    std::uint32_t to = 0, channel = 0;
    std::uint16_t port = 0;
  };

  // Chooses among the links that lead nearer the one with the least load from there on.
  void choose(std::uint32_t s, std::uint32_t destination) {
    const Arc* best = nullptr;
    std::uint64_t least = 0;
    for (const Arc& arc : arcs_[s]) {
      if (level_[arc.to] + 1 != level_[s]) continue;
      std::uint64_t cost = load_[arc.channel];
      each_on_way(arc.to, destination, [&](std::uint32_t channel) { cost += load_[channel]; });
      if (best != nullptr && cost >= least) continue;
      best = &arc;
      least = cost;
    }
    routes_.way_[routes_.place(s, destination)].port = best->port;
    const std::uint64_t pairs =
        std::uint64_t{routes_.destinations_.hosts_at(s)} * routes_.destinations_.hosts(destination);
    if (pairs > 0) each_on_way(s, destination, [&](std::uint32_t channel) { load_[channel] += pairs; });
  }
  template <typename Visit>
  void each_on_way(std::uint32_t s, std::uint32_t destination, Visit&& visit) const {
    for (std::uint32_t c = routes_.next(s, destination); c != kNone;
         c = routes_.next(routes_.end(c), destination)) {
      visit(c);
    }
  }

  PairRoutes& routes_;
  std::vector<std::vector<Arc>> arcs_;  // by switch
  std::vector<std::uint64_t> load_;     // by channel: pairs of hosts that go there
  std::vector<std::uint32_t> level_;    // by switch: links to the destination
  std::vector<std::uint32_t> order_;    // switches, by level
};

PairRoutes::PairRoutes(const Topology& topology, const std::vector<bool>& down_links)
    : topology_(topology), down_links_(down_links), destinations_(topology, down_links) {
  const double pairs = static_cast<double>(topology.switches()) * destinations_.size();
  expect_memory(pairs * sizeof(Way),
                fmt::format("the ways between {} switches", grouped(topology.switches())));
  way_.resize(static_cast<std::size_t>(pairs));
  Trees trees(*this);
  for (std::uint32_t d = 0; d < destinations_.size(); ++d) trees.grow(d);
}

void PairRoutes::order(std::uint32_t destination, std::vector<std::uint32_t>& switches) const {
  // Each switch behind those of its way that aren't there yet.
  std::vector<bool> known(topology_.switches());
  std::vector<std::uint32_t> way;
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    for (std::uint32_t at = s; !known[at] && port(at, destination) != kNone;) {
      known[at] = true;
      way.push_back(at);
      at = end(next(at, destination));
    }
    switches.insert(switches.end(), way.rbegin(), way.rend());
    way.clear();
  }
}

namespace {

// Ways between switches that are dealt out; more would take minutes.
constexpr double kMostWays = 1e6;

void check_size(const std::string& policy, const Topology& topology) {
  const Destinations destinations(topology, {});
  double sources = 0;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) sources += destinations.is_source(s) ? 1 : 0;
  const double ways = sources * destinations.size();
  if (ways <= kMostWays) return;
  throw InputError(
      fmt::format("routing policy {}: {} has {} pairs of switches with hosts, and {} are the most "
                  "that it deals out to virtual channels within some 20 s; up_down needs one channel",
                  policy, topology.name(), grouped(ways), grouped(kMostWays)));
}

PairRoutes dealt_routes(const PlanSetup& setup, const Dealer& dealer, const std::vector<bool>& down_links) {
  const std::int64_t most = setup.parameters.integer("vcs");
  check_size(dealer.policy, setup.topology);
  PairRoutes routes(setup.topology, down_links);
  if (!dealer.deal(routes, static_cast<std::uint32_t>(most))) {
    throw InputError(
        fmt::format("routing policy {}: the ways of {} need more than {} virtual channels; up_down "
                    "needs one",
                    dealer.policy, setup.topology.name(), PairRoutes::kMostLayers));
  }
  if (routes.layers() > most) {
    setup.parameters.fail("vcs",
                          fmt::format("the ways of {} need {}{}", setup.topology.name(), routes.layers(),
                                      down_links.empty() ? "" : ", with the links that are down"));
  }
  return routes;
}

class Plan;

class OverPairRoutes final : public SwitchPolicy {
 public:
  OverPairRoutes(const Plan& plan, std::uint32_t s, std::uint64_t salt);
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override;

 private:
  const Plan& plan_;
  const std::uint32_t switch_;
  const std::uint64_t salt_;
  std::vector<std::uint8_t> from_host_;  // by port
};

class Plan final : public SwitchPlan {
 public:
  Plan(const PlanSetup& setup, const Dealer& dealer)
      : setup_(setup), dealer_(dealer), routes_(make_routes({})) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t s, sim::RandomStream) const override {
    return std::make_unique<OverPairRoutes>(*this, s, switch_salt(setup_.seed, s));
  }
  void reconverge(const std::vector<bool>& down_links) override { routes_ = make_routes(down_links); }
  const PairRoutes& routes() const { return *routes_; }

 private:
  std::unique_ptr<const PairRoutes> make_routes(const std::vector<bool>& down_links) const {
    return std::make_unique<PairRoutes>(dealt_routes(setup_, dealer_, down_links));
  }

  const PlanSetup setup_;
  const Dealer dealer_;
  std::unique_ptr<const PairRoutes> routes_;
};

OverPairRoutes::OverPairRoutes(const Plan& plan, std::uint32_t s, std::uint64_t salt)
    : plan_(plan), switch_(s), salt_(salt) {
  const Topology& topology = plan.routes().topology();
  for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
    from_host_.push_back(topology.node(topology.channels()[c].to).kind == NodeKind::kHost ? 1 : 0);
  }
}

Output OverPairRoutes::choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                              ActiveSwitch& here) {
  const PairRoutes& routes = plan_.routes();
  const std::uint32_t destination = routes.destinations().of(packet.destination);
  std::uint32_t port = routes.port(switch_, destination);
  if (port == PairRoutes::kNone) {
    if (!routes.destinations().ends_at(switch_, destination)) return {.port = Output::kNowhere};
    const std::uint32_t cable = routes.destinations().cable_port(packet.destination);
    if (cable != Destinations::kNone) return {.port = cable};
    if (minimal.empty()) minimal = here.minimal(packet.destination);
    if (minimal.empty()) return {.port = Output::kNowhere};
    port = minimal[minimal.size() == 1 ? 0 : hash_choice(packet.entropy, salt_, minimal.size())];
  }
  if (!here.all_up() && !here.is_up(port)) return {.port = Output::kNowhere};
  const bool begins = packet.in_port == PacketView::kMadeHere || from_host_[packet.in_port] != 0;
  return {.port = port, .channel = begins ? routes.layer(switch_, destination) : Output::kSameChannel};
}

// State 0: fresh from its host; else 1 + the layer.
class Paths final : public PathModel {
 public:
  Paths(const PlanSetup& setup, const Dealer& dealer)
      : routes_(dealt_routes(setup, dealer, setup.table.down_links())) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const std::uint32_t s = routes_.topology().node(at).index, destination = routes_.destinations().of(host);
    const std::uint32_t next = routes_.next(s, destination);
    if (next == PairRoutes::kNone) {
      std::vector<std::uint32_t> cables;
      add_cables(routes_.topology(), routes_.down_links(), s, host, cables);
      for (const std::uint32_t c : cables) {
        steps.push_back({.channel = c, .share = 1.0 / static_cast<double>(cables.size())});
      }
      return;
    }
    const auto layer = static_cast<std::uint8_t>(state == 0 ? routes_.layer(s, destination) : state - 1);
    steps.push_back({.channel = next, .state = static_cast<PathState>(1 + layer), .virtual_channel = layer});
  }
  bool tells_hosts_apart() const override { return false; }
  std::uint32_t states() const override { return 1 + routes_.layers(); }
  std::uint32_t virtual_channels() const override { return routes_.layers(); }

 private:
  const PairRoutes routes_;
};

}  // namespace

std::unique_ptr<SwitchPlan> pair_plan(const PlanSetup& setup, const Dealer& dealer) {
  return std::make_unique<Plan>(setup, dealer);
}
std::unique_ptr<PathModel> pair_paths(const PlanSetup& setup, const Dealer& dealer) {
  return std::make_unique<Paths>(setup, dealer);
}

Policy with_pair_routes(ModuleInfo info) {
  info.parameters.push_back(
      {"vcs", ParameterType::kInteger, "8",
       "Virtual channels that it may use; the queue, credit:selection=routed, is to have as many.",
       from_to("1", std::to_string(PairRoutes::kMostLayers))});
  return {.info = std::move(info),
          .fluid = FluidPaths::kModel,
          .asks = {.single = true, .own_ports = true, .ahead = true, .no_detours = true, .notes = true},
          .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
