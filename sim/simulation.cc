#include "sim/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/collectives/steps.h"
#include "goal/compute_times.h"
#include "goal/program.h"
#include "goal/read_graph.h"
#include "goal/workload/workload.h"
#include "sim/faults.h"
#include "sim/host_config.h"
#include "sim/measurements.h"
#include "sim/mpi_library.h"
#include "sim/network_models.h"
#include "sim/packet/queues/queues.h"
#include "sim/replay/protocols.h"
#include "sim/routing/policies/policies.h"
#include "sim/routing/table/routing_table.h"
#include "sim/units/graph_error.h"
#include "topologies/families.h"
#include "topologies/recommended_routing.h"

namespace weft::sim {
namespace {

// What a generated graph is not quite.
void add_remarks(const ModuleChoice& traffic, std::uint32_t ranks, std::vector<std::string>& warnings) {
  if (traffic.empty()) return;
  const goal::Workload& workload = find_module(goal::workloads(), traffic, "traffic pattern");
  if (workload.remarks == nullptr) return;
  for (std::string& remark : workload.remarks(Parameters(workload.info, traffic), ranks)) {
    warnings.push_back(std::move(remark));
  }
}

}  // namespace

Registries builtin_registries() {
  Registries all;
  for (const NetworkModel& model : network_models()) {
    all.networks.push_back({.info = model.info,
                            .has_fabric = model.has_fabric,
                            .has_packets = model.has_packets,
                            .has_partitions = model.has_partitions,
                            .has_connections = model.has_connections,
                            .breaks_order = model.breaks_order,
                            .needs_of = model.needs});
  }
  for (const auto& family : topologies::families()) {
    all.topologies.push_back({.info = family.info,
                              .routing = topologies::recommended_routing(family.info.name).policy,
                              .sized = topologies::sized});
  }
  for (const auto& policy : routing::policies()) {
    all.routing.push_back({.info = policy.info,
                           .has_fluid = policy.fluid != routing::FluidPaths::kUnknown,
                           .needs = policy.needs,
                           .keeps_order = [&policy](const Parameters& parameters) {
                             return policy.configured(parameters).keeps_order();
                           }});
  }
  for (const auto& control : congestion::controls()) {
    all.congestion.push_back({.info = control.info,
                              .queue = control.queue,
                              .queue_settings = control.queue_settings,
                              .caveat = control.caveat,
                              .needs = control.needs,
                              .wants_one_path = control.wants_one_path});
  }
  for (const auto& recovery : congestion::recoveries()) {
    all.recoveries.push_back(
        {.info = recovery.info, .needs = recovery.needs, .wants_order = recovery.wants_order});
  }
  for (const auto& queue : packet::disciplines()) {
    all.queues.push_back({.info = queue.info, .offers = queue.offers});
  }
  for (const auto& workload : goal::workloads()) {
    all.traffic.push_back({.info = workload.info, .independent_flows = workload.independent_flows});
  }
  for (const auto& algorithm : goal::collective_algorithms()) {
    all.algorithms.push_back({std::string(goal::name(algorithm.kind)), algorithm.info});
  }
  for (const auto& profile : goal::selection_profiles()) all.profiles.push_back(profile.info);
  all.protocols.assign(protocols().begin(), protocols().end());
  return all;
}

Simulation::Simulation(const Scenario& resolved)
    : scenario_(resolved),
      model_(find_module(network_models(), scenario_.network, "network model")),
      parameters_(model_.info, scenario_.network) {
  if (model_.check != nullptr) model_.check(parameters_);
  if (scenario_.topology.empty()) return;
  const topologies::Family& family = find_module(topologies::families(), scenario_.topology, "topology");
  const Parameters parameters(family.info, scenario_.topology);
  topology_ = std::make_unique<topologies::Topology>(family.build(parameters));
  table_ = std::make_unique<routing::RoutingTable>(*topology_);
  topology_text_ = to_short_form(scenario_.topology.name, parameters);
  check_recommended_routing();
  check_measurements({scenario_, topology_.get()});
  link_changes_ = plan_faults(scenario_, *topology_);
}

// A recommendation is for a family; if this network of it can't have the policy, the run goes on with the
// first.
void Simulation::check_recommended_routing() {
  if (scenario_.routing_reason.empty()) return;
  const routing::Policy& policy = find_module(routing::policies(), scenario_.routing, "routing policy");
  const Parameters parameters(policy.info, scenario_.routing);
  constexpr std::uint32_t kMostBalanced = 2000;  // switches; half a minute for 40,000 hosts
  try {
    if (!model_.has_packets && policy.fluid == routing::FluidPaths::kBalanced &&
        topology_->switches() > kMostBalanced) {
      throw InputError("without packets it takes minutes on more than 2,000 switches, unless asked for");
    }
    (void)routing::paths_of(policy, {parameters, *topology_, *table_, scenario_.seed});
  } catch (const InputError& error) {
    const ModuleInfo& first = routing::policies().front().info;
    scenario_.routing_reason = fmt::format("{} is recommended for {}, but: {}", policy.info.name,
                                           scenario_.topology.name, error.what());
    scenario_.routing = {.name = first.name};
    const Parameters defaults(first, scenario_.routing);
    for (const ParameterSpec& spec : first.parameters)
      scenario_.routing.given[spec.name] = defaults.text(spec.name);
  }
}

goal::Program Simulation::workload() const {
  const Job& job = scenario_.jobs.at(0);
  if (job.traffic.empty()) {
    const bool needs_graph = model_.needs_graph != nullptr && model_.needs_graph(parameters_);
    if (!needs_graph) return goal::open_program(job.goal);
    goal::PackInfo info;
    auto graph = std::make_unique<const goal::Graph>(goal::read_graph(job.goal, &info));
    return goal::Program(std::move(graph), std::move(info));
  }
  const goal::Workload& workload = find_module(goal::workloads(), job.traffic, "traffic pattern");
  const Parameters parameters(workload.info, job.traffic);
  std::int64_t ranks = parameters.integer("ranks");
  if (ranks < 0 || ranks > INT32_MAX) parameters.fail("ranks", "it must be from 0 to 2147483647");
  if (ranks == 0) {
    if (topology_ == nullptr) {
      parameters.fail("ranks",
                      "network model " + scenario_.network.name + " has no hosts to count; give a number");
    }
    const Parameters hosts(hosts_section(), scenario_.hosts);
    ranks = topology_->hosts() * hosts.integer("ranks_per_host");
  }
  return goal::Program(std::make_unique<const goal::Graph>(
      workload.generate(parameters, static_cast<std::uint32_t>(ranks), scenario_.seed)));
}

// With what the graph's MPI library decides; adds to the remarks what that is.
Scenario Simulation::decided(const goal::Program& program, std::vector<std::string>& remarks) const {
  Scenario scenario = scenario_;
  const bool is_compat = model_.needs_graph != nullptr && model_.needs_graph(parameters_);
  if (!is_compat) follow_library(scenario, program, remarks);
  return scenario;
}

// Throws InputError if the graph needs more hosts than there are.
void Simulation::check_hosts(const goal::Program& program, const HostConfig& hosts) const {
  const std::uint32_t needed = hosts_needed(program, hosts);
  if (needed <= topology_->hosts()) return;
  throw InputError(
      scenario_.topology.location,
      fmt::format(
          "this {} has {} hosts, but the graph needs {}; choose a larger one, or more hosts.ranks_per_host",
          scenario_.topology.name, topology_->hosts(), needed));
}

void Simulation::run_model(const goal::Program& program, RunControl& control, results::Report& report) const {
  const Scenario scenario = decided(program, report.warnings);
  report.connections = scenario.connections;
  const auto protocol = scenario.hosts.given.find("protocol");
  if (protocol != scenario.hosts.given.end()) report.protocol = protocol->second;
  const HostConfig hosts = host_config(scenario);
  std::optional<ModelFabric> fabric;
  if (topology_ != nullptr) {
    check_hosts(program, hosts);
    fabric.emplace(ModelFabric{*topology_, *table_, link_changes_});
  }
  const ModelRun run{scenario,
                     parameters_,
                     hosts,
                     program,
                     fabric ? &*fabric : nullptr,
                     scenario_.output.flows && !omits_flow_rows_,
                     control};
  if (model_.warn != nullptr) model_.warn(run, report.warnings);
  std::optional<Measurements> measurements;
  if (fabric) {
    measurements.emplace(SinkRequest{scenario_, topology_.get()});
    fabric->observer = measurements->observer();
    fabric->series = measurements->series();
  }
  try {
    model_.run(run, report);
  } catch (const GraphError& error) {
    if (scenario_.jobs.at(0).goal.empty()) throw;
    throw InputError(SourceLocation{.file = scenario_.jobs.at(0).goal}, error.what());
  }
  if (measurements) measurements->close();
}

results::Report Simulation::run(const goal::Program& program, RunControl& control) const {
  results::Report report;
  report.seed = scenario_.seed;
  report.warnings = scenario_.warnings;
  add_remarks(scenario_.jobs.at(0).traffic, program.ranks(), report.warnings);
  report.not_replayed = program.not_replayed();
  if (report.not_replayed.any()) report.warnings.push_back(goal::sentence(report.not_replayed));
  for (std::string& sentence : goal::compute_times_warnings(program.anomalies())) {
    report.warnings.push_back(std::move(sentence));
  }
  report.topology = topology_text_;
  if (topology_ != nullptr) {
    const routing::Policy& policy = find_module(routing::policies(), scenario_.routing, "routing policy");
    report.routing = to_short_form(policy.info.name, Parameters(policy.info, scenario_.routing));
    report.routing_reason = scenario_.routing_reason;
  }
  report.network = to_short_form(model_.info.name, parameters_);
  run_model(program, control, report);
  report.faults = scenario_.faults.size();
  report.link_changes = static_cast<std::uint64_t>(
      std::count_if(link_changes_.begin(), link_changes_.end(),
                    [&](const LinkChange& change) { return change.at <= report.makespan; }));
  report.jobs.push_back({scenario_.jobs.at(0).name, program.ranks(), report.makespan});
  return report;
}

}  // namespace weft::sim
