#include "tools/weft/route/routed_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/expand.h"
#include "goal/workload/workload.h"
#include "sim/fabrics/fabrics.h"
#include "sim/replay/protocols.h"
#include "sim/routing/checked_paths.h"
#include "sim/routing/policies/policies.h"
#include "sim/run/default_routing.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/phases.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/composed.h"
#include "topologies/recommended_routing.h"

namespace weft::cli {
namespace {

// What the messages of a generated graph amount to; rank r is on host r.
std::vector<topologies::MatrixEntry> pattern(const std::string& text, std::uint32_t hosts,
                                             std::uint64_t seed) {
  ModuleChoice choice = parse_module_choice(text);
  const goal::Workload& workload = find_module(goal::workloads(), choice, "traffic pattern");
  if (!choice.given.contains("ranks") || choice.given["ranks"] == "0") {
    choice.given["ranks"] = fmt::format("{}", hosts);
  }
  const Parameters parameters(workload.info, choice);
  const std::int64_t ranks = parameters.integer("ranks");
  if (ranks < 1 || ranks > hosts) {
    parameters.fail("ranks", fmt::format("the network has {} hosts", hosts));
  }
  const goal::Graph graph =
      goal::expand_collectives(workload.generate(parameters, static_cast<goal::Rank>(ranks), seed),
                               goal::CollectiveSelection(goal::CollectiveChoices{}), {});
  std::vector<topologies::MatrixEntry> entries;
  for (goal::Rank r = 0; r < graph.ranks(); ++r) {
    const goal::RankView rank = graph.rank(r);
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != goal::OpKind::kSend || rank.value(i) == 0) continue;
      const std::uint32_t to = rank.peer(i);
      if (!entries.empty() && entries.back().from == r && entries.back().to == to) {
        entries.back().weight += static_cast<double>(rank.value(i));
      } else {
        entries.push_back({r, to, static_cast<double>(rank.value(i))});
      }
    }
  }
  return entries;
}

}  // namespace

void during(const std::string& what, const std::function<void()>& work) {
  Phases phases(true);
  phases.enter(what);
  try {
    work();
  } catch (const std::bad_alloc& error) {
    throw NotEnoughMemory(about_memory(error, phases.current()));
  }
}

RoutedNetwork::RoutedNetwork(topologies::Topology topology, const Choice& choice)
    : topology_(std::move(topology)), seed_(choice.seed) {
  during("working out routes", [&] {
    table_ = std::make_unique<routing::RoutingTable>(topology_);
    ModuleChoice chosen;
    if (choice.routing.empty()) {
      const std::string recommended = topologies::recommended_routing(choice.family).policy;
      const std::string fabric =
          choice.fabric.empty() ? fabrics::default_fabric(choice.family, recommended).name : choice.fabric;
      sim::DefaultRouting best =
          sim::default_routing(choice.family, fabric, topology_, *table_, seed_, choice.balances);
      chosen = std::move(best.policy);
      reason_ = std::move(best.reason);
    } else {
      chosen = parse_module_choice(choice.routing);
    }
    const routing::Policy& policy = find_module(routing::policies(), chosen, "routing policy");
    parameters_ = Parameters(policy.info, chosen);
    policy_ = policy.configured(parameters_);
    paths_ = routing::checked_paths_of(policy_, setup());
    if (!policy_.all_nics) nics_ = routing::NicNetwork::make(topology_, *table_, policy_.leads_to_hosts);
    find_rails(choice.nic_choice);
  });
}

// What the ranks of a run without settings make of their NICs.
void RoutedNetwork::find_rails(const std::string& nic_choice) {
  const ModuleInfo info{.name = "weft route", .parameters = {routing::nic_choice_parameter(true)}};
  nic_choice_ = routing::nic_choice_of(Parameters(info, ModuleChoice{.given = {{"nic_choice", nic_choice}}}));
  if (nics_ == nullptr || policy_.leads_to_hosts || nic_choice_ == routing::NicChoice::kSpray) return;
  const Parameters protocol(sim::protocols().front(), ModuleChoice());
  rail_use_ = routing::rail_use(nic_choice_, {.most = protocol.whole("rails")});
  rails_ = routing::NicNetwork::make_unfolded(topology_, *table_);
  rail_paths_ = routing::checked_paths_of(policy_, setup_of_rails());
}

routing::PlanSetup RoutedNetwork::setup_of_nics() const {
  if (nics_ == nullptr) return setup();
  return {parameters_, nics_->topology(), nics_->table(), seed_};
}

std::string RoutedNetwork::routing() const { return to_short_form(policy_.info.name, parameters_); }

routing::LinkLoad RoutedNetwork::load(const topologies::HostTraffic& traffic) const {
  routing::LinkLoad load;
  const bool follows = follows_nics(traffic);
  const routing::PlanSetup on = follows ? setup_of_rails() : setup();
  during("adding up the loads of links", [&] {
    const topologies::HostTraffic& all =
        follows ? routing::over_nics(traffic, *rails_, nic_choice_, rail_use_) : traffic;
    if (policy_.fluid == routing::FluidPaths::kBalanced) {
      load = routing::balanced_load(on.topology, on.table, routing::checked_paths_of(policy_, on), all);
    } else {
      load = routing::link_load(on.topology, on.table, follows ? *rail_paths_ : *paths_, all);
    }
  });
  return load;
}

// To write out more pairs of NICs takes gigabytes.
bool RoutedNetwork::follows_nics(const topologies::HostTraffic& traffic) const {
  constexpr double kMostEntries = 1 << 25;
  return rails_ != nullptr && routing::rail_entries(traffic, *rails_) <= kMostEntries;
}

std::string RoutedNetwork::remark_on_load(const topologies::HostTraffic& traffic) const {
  const bool balanced = policy_.fluid == routing::FluidPaths::kBalanced;
  return with_nics(
      balanced ? "as many packets take detours as keep the loads of both kinds of ways in balance" : remark(),
      follows_nics(traffic));
}

std::string RoutedNetwork::with_nics(std::string remark, bool follows) const {
  if (nics_ == nullptr || !(follows || nics_->unfolded())) return remark;
  if (!remark.empty()) remark += "; ";
  if (follows) return remark + "hosts have several NICs, and take them as large messages of weft sim do";
  return remark +
         "hosts have several NICs: here paths end at whichever is nearest, while a run leads each message to "
         "one of its receiver's (weft sim tells loads of links then)";
}

void RoutedArguments::add_to(Command& command) {
  topology_.add_option_to(command);
  command.add_option(
      "--fabric", fabric_,
      "Take the routing of this fabric; `weft list fabrics` names all; by default that which weft "
      "sim takes for the topology");
  command.add_option("--routing", routing_,
                     "Routing policy, NAME:key=value,…; `weft list routing` names all; by default what is "
                     "recommended for the topology, as in weft sim");
  command.add_option("--seed", seed_, "Of what is drawn at random").with_default();
}

void RoutedArguments::add_nics_to(Command& command) {
  command
      .add_option(
          "--nic-choice", nic_choice_,
          "Which NICs large messages take where hosts have several, as weft sim's nic_choice: library, "
          "near, ucx, nccl, all, given, round_robin, hash, least_loaded or spray")
      .with_default();
}

std::unique_ptr<RoutedNetwork> RoutedArguments::build(bool balances) const {
  if (!routing_.empty()) {  // before the work, not after
    (void)find_module(routing::policies(), parse_module_choice(routing_), "routing policy");
  }
  return std::make_unique<RoutedNetwork>(
      topology_.build(), RoutedNetwork::Choice{topologies::routed_family(topology_.choice()), fabric_,
                                               routing_, seed_, balances, nic_choice_});
}

void TrafficArguments::add_to(Command& command) {
  const Option traffic = command
                             .add_option("--traffic", traffic_,
                                         "Who sends to whom: uniform, permutation, longest-matching, or any "
                                         "of `weft list traffic`, like tornado:dims=8x8")
                             .with_default();
  command
      .add_option("--matrix", matrix_,
                  "A communication matrix: lines 'src dst weight', or what `weft goal stats --matrix` writes")
      .excludes(traffic);
}

topologies::HostTraffic TrafficArguments::build(const topologies::Topology& topology,
                                                std::uint64_t seed) const {
  const topologies::RouterGraph graph = topologies::router_graph(topology);
  if (!matrix_.empty()) {
    return topologies::matrix_traffic(graph, matrix_, topologies::read_matrix(matrix_));
  }
  if (traffic_ == "uniform") return topologies::uniform_traffic(graph);
  if (traffic_ == "permutation") return topologies::permutation_traffic(graph, seed);
  if (traffic_ == "longest-matching") return topologies::matching_traffic(graph, seed);
  return topologies::matrix_traffic(graph, traffic_, pattern(traffic_, graph.endpoints(), seed));
}

}  // namespace weft::cli
