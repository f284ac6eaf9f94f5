#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "congestion/controls.h"
#include "congestion/rack.h"
#include "congestion/recoveries.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/collectives/steps.h"
#include "goal/program.h"
#include "goal/read_graph.h"
#include "goal/workload/workload.h"
#include "sim/faults.h"
#include "sim/flow/flow_network.h"
#include "sim/loggops/atlahs.h"
#include "sim/loggops/classic.h"
#include "sim/loggops/loggops.h"
#include "sim/packet/packet_network.h"
#include "sim/replay/replay.h"
#include "sim/routing/policies.h"
#include "sim/routing/routing_table.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim {
namespace {

results::Outcome outcome_of(StopReason reason, bool complete) {
  switch (reason) {
    case StopReason::kNone:
      break;
    case StopReason::kInterrupt:
      return results::Outcome::kInterrupted;
    case StopReason::kTimeLimit:
      return results::Outcome::kTimeLimit;
    case StopReason::kEventLimit:
      return results::Outcome::kEventLimit;
    case StopReason::kMemoryLimit:
      return results::Outcome::kMemoryLimit;
    case StopReason::kDeadlock:
      return results::Outcome::kIncomplete;
  }
  return complete ? results::Outcome::kComplete : results::Outcome::kIncomplete;
}

// A cost in nanoseconds per byte. More than a millisecond is slower than anything that carries messages.
double per_byte(const Parameters& parameters, std::string_view name) {
  const double ns = parameters.real(name);
  if (!(ns >= 0 && ns <= 1e6)) parameters.fail(name, "it must be from 0 to 1000000 ns per byte");
  return ns;
}

HostConfig host_config(const Scenario& scenario) {
  HostConfig config;
  const Parameters hosts(hosts_section(), scenario.hosts);
  config.overhead = hosts.time("o");
  config.overhead_per_byte = TimePerByte::ns(per_byte(hosts, "O"));
  config.eager_limit_bytes = hosts.bytes("S");
  config.reduction_per_byte = TimePerByte::ns(per_byte(hosts, "reduction_per_byte"));
  config.ranks_per_host = static_cast<std::uint32_t>(hosts.integer("ranks_per_host"));
  goal::CollectiveChoices choices;
  const auto given = [&](std::string_view name) {
    const auto found = scenario.collectives.given.find(std::string(name));
    return found == scenario.collectives.given.end() || found->second == kByRules ? "" : found->second;
  };
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    choices.forced[kind] = given(goal::name(static_cast<goal::CollectiveKind>(kind)));
  }
  choices.profile = given("profile");
  choices.table = given("table");
  config.collectives = goal::CollectiveSelection(choices);
  return config;
}

// Runs a replay, `run` being the network's part, and collects what both have to report.
template <typename NetworkModel, typename RunNetwork>
void run_replay(Replay& replay, const NetworkModel& network, RunNetwork&& run, RunControl& control,
                results::Report& report) {
  control.begin([&replay] { return replay.progress(); });
  const StopReason reason = run();
  control.end();
  const ReplayTotals totals = replay.totals();
  report.outcome = outcome_of(reason, replay.complete());
  if (report.outcome == results::Outcome::kIncomplete && reason == StopReason::kNone) {
    report.diagnosis = replay.diagnose();
  }
  report.makespan = totals.makespan;
  report.digest = replay.digest();
  report.ops = totals.ops;
  report.executed_ops = totals.executed_ops;
  report.messages = totals.messages;
  report.bytes = totals.bytes;
  report.network_totals = network.totals();
  report.ranks = replay.ranks();
  report.links = network.links();
  report.flows = network.flows();
  report.flow_statistics = network.flow_statistics();
}

// Bytes that each host sends and receives outside of collectives, which load all hosts alike.
std::vector<double> host_loads(const goal::Program& program, std::uint32_t ranks_per_host,
                               std::uint32_t hosts) {
  std::vector<double> loads(hosts);
  const std::vector<double> bytes = program.message_bytes();
  for (goal::Rank r = 0; r < program.ranks(); ++r) loads[r / ranks_per_host] += bytes[r];
  return loads;
}

// Those programs count in whole nanoseconds.
std::int64_t whole_ns(const Parameters& parameters, std::string_view name) {
  const Time time = parameters.time(name);
  if (time.ps() % 1000 != 0) parameters.fail(name, "the compatibility modes take whole nanoseconds only");
  return time.ps() / 1000;
}

template <typename Entry>
RegisteredModule registered(const Entry& entry) {
  return {.info = entry.info};
}

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

void Simulation::run_loggops(const Parameters& parameters, const goal::Program& program, RunControl& control,
                             results::Report& report) const {
  HostConfig hosts = host_config(scenario_);
  hosts.overhead = parameters.time("o");
  hosts.overhead_per_byte = TimePerByte::ns(per_byte(parameters, "O"));
  hosts.eager_limit_bytes = parameters.bytes("S");
  const LogGopsConfig config{parameters.time("L"), parameters.time("g"),
                             TimePerByte::ns(per_byte(parameters, "G"))};
  // Windows are as long as L. Each part has a box for each other one.
  constexpr std::uint32_t kMostParts = 1024;
  const std::uint32_t host_count = hosts_needed(program, hosts);
  const std::uint32_t parts =
      config.latency == Time()
          ? 1
          : std::clamp<std::uint32_t>(host_count, 1, std::min(scenario_.threads, kMostParts));
  if (config.latency == Time() && scenario_.threads > 1) {
    report.warnings.push_back(fmt::format(
        "threads: {} asked for, but without latency (L) messages can't be foreseen: it runs on one; "
        "results are the same",
        scenario_.threads));
  }
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> engines;
  for (std::uint32_t p = 0; p < parts; ++p) {
    engines.push_back(owned.emplace_back(std::make_unique<Engine>(scenario_.seed)).get());
  }
  std::vector<std::uint16_t> partition_of_host(host_count);
  for (std::uint64_t host = 0; host < host_count; ++host) {
    partition_of_host[host] = static_cast<std::uint16_t>(host * parts / host_count);
  }
  Replay replay(program, hosts, engines, partition_of_host);
  std::vector<NetworkClient*> clients;
  for (std::uint32_t p = 0; p < parts; ++p) clients.push_back(&replay.client(p));
  LogGopsNetwork network(config, program.facts().max_nic + 1u,
                         keeps_flow_rows()        ? FlowRecord::kRows
                         : scenario_.output.flows ? FlowRecord::kStatistics
                                                  : FlowRecord::kNothing,
                         engines, clients, partition_of_host);
  std::vector<Network*> networks;
  for (std::uint32_t p = 0; p < parts; ++p) networks.push_back(&network.part(p));
  replay.start(networks);
  run_replay(
      replay, network, [&] { return network.run(control, scenario_.threads); }, control, report);
  for (const Engine* engine : engines) report.events += engine->executed();
}

void Simulation::run_compat(const Parameters& parameters, const goal::Graph& graph, RunControl& control,
                            results::Report& report) const {
  CompatParameters compat;
  compat.L = whole_ns(parameters, "L");
  compat.o = whole_ns(parameters, "o");
  compat.g = whole_ns(parameters, "g");
  compat.G = per_byte(parameters, "G");
  const bool classic = parameters.text("semantics") == "classic";
  if (classic && compat.G != std::floor(compat.G))
    parameters.fail("G", "classic takes whole nanoseconds only");
  const double cpu_per_byte = per_byte(parameters, "O");
  if (cpu_per_byte != std::floor(cpu_per_byte))
    parameters.fail("O", "the compatibility modes take whole nanoseconds only");
  compat.O = static_cast<std::int64_t>(cpu_per_byte);
  compat.S = parameters.bytes("S");
  const Parameters hosts(hosts_section(), scenario_.hosts);
  if (hosts.integer("ranks_per_host") != 1) {
    hosts.fail("ranks_per_host", "the compatibility modes know one rank on each host only");
  }
  if (scenario_.threads > 1) {
    report.warnings.push_back(
        fmt::format("threads: {} asked for, but the compatibility modes run on one; results are the same",
                    scenario_.threads));
  }
  const auto run_mode = classic ? run_classic : run_atlahs;
  CompatResult result = run_mode(graph, compat, control, scenario_.output.flows);
  report.outcome = outcome_of(result.stop, result.complete());
  for (const results::Rank& rank : result.ranks) report.makespan = std::max(report.makespan, rank.finish);
  report.digest = result.digest;
  report.events = result.events;
  report.ops = result.total_ops;
  report.executed_ops = result.executed_ops;
  report.messages = report.network_totals.messages = result.messages;
  report.bytes = report.network_totals.bytes = result.bytes;
  report.ranks = std::move(result.ranks);
  report.flows = std::move(result.flows);
  for (const results::Flow& flow : report.flows) report.flow_statistics.add(flow);
  report.diagnosis = std::move(result.diagnosis);
}

void Simulation::run_packet(const Parameters& parameters, const goal::Program& program, RunControl& control,
                            results::Report& report) const {
  const routing::Policy& policy = find_module(routing::policies(), scenario_.routing, "routing policy");
  const congestion::Control& congestion =
      find_module(congestion::controls(), scenario_.congestion, "congestion control");
  const packet::Discipline& queue = find_module(packet::disciplines(), scenario_.queue, "queue discipline");
  const congestion::RecoveryKind& recovery = congestion::recoveries().front();
  packet::PacketConfig config = packet::packet_config(parameters);
  config.record_flows = keeps_flow_rows();

  const HostConfig hosts = host_config(scenario_);
  check_hosts(program, hosts);
  Measurements measurements(measurements_, *topology_);
  topologies::Partitioning partitioning{.of_vertex = {}, .parts = 1};
  // An observer sees all packets, in the order of events.
  const std::uint32_t parts = measurements.observer() != nullptr
                                  ? 1
                                  : packet::partitions(parameters, scenario_.threads, topology_->hosts());
  if (parts > 1) {
    const std::vector<double> loads = host_loads(program, hosts.ranks_per_host, topology_->hosts());
    partitioning = topologies::partition(*topology_, parts, loads);
    // Windows too short to do much in are not worth more parts than threads.
    if (parts > scenario_.threads && parameters.integer("partitions") == 0 &&
        partitioning.lookahead < Time::ns(50)) {
      partitioning = topologies::partition(*topology_, scenario_.threads, loads);
    }
  }
  std::vector<std::uint16_t> partition_of_host;
  for (std::uint32_t host = 0; !partitioning.of_vertex.empty() && host < topology_->hosts(); ++host) {
    partition_of_host.push_back(partitioning.of_vertex[topology_->host(host)]);
  }
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> engines;
  for (std::uint32_t p = 0; p < partitioning.parts; ++p) {
    owned.push_back(std::make_unique<Engine>(scenario_.seed));
    engines.push_back(owned.back().get());
  }
  Replay replay(program, hosts, engines, partition_of_host);
  std::vector<NetworkClient*> clients;
  for (std::uint32_t p = 0; p < partitioning.parts; ++p) clients.push_back(&replay.client(p));
  packet::PacketNetwork network(
      engines, clients,
      {*topology_, *table_, policy, Parameters(policy.info, scenario_.routing), congestion,
       Parameters(congestion.info, scenario_.congestion), recovery, Parameters(recovery.info, {}), queue,
       Parameters(queue.info, scenario_.queue), config, link_changes_},
      std::move(partitioning));
  network.set_observer(measurements.observer());
  network.set_series(measurements.series());
  std::vector<Network*> networks;
  for (std::uint32_t p = 0; p < engines.size(); ++p) networks.push_back(&network.part(p));
  replay.start(networks);
  run_replay(
      replay, network, [&] { return network.run(control, scenario_.threads); }, control, report);
  measurements.close();
  report_faults(report);
  if (network.given_up() > 0 && report.outcome == results::Outcome::kIncomplete) {
    report.diagnosis.insert(report.diagnosis.begin(),
                            fmt::format("{} messages were given up after {} timeouts in a row: no link was "
                                        "left on their way, or all packets "
                                        "were lost",
                                        network.given_up(), congestion::Rack::kMostTimeouts));
  }
  if (!network.deadlock().empty()) report.diagnosis = network.deadlock();
  for (const Engine* engine : engines) {
    if (report.outcome != results::Outcome::kComplete) {
      report.stopped_at = std::max(report.stopped_at, engine->now());
    }
  }
  for (const Engine* engine : engines) report.events += engine->executed();
}

void Simulation::run_flow(const Parameters& parameters, const goal::Program& program, RunControl& control,
                          results::Report& report) const {
  const routing::Policy& policy = find_module(routing::policies(), scenario_.routing, "routing policy");
  flow::FlowConfig config = flow::flow_config(parameters);
  config.record_flows = keeps_flow_rows();
  const HostConfig hosts = host_config(scenario_);
  check_hosts(program, hosts);
  for (const ParameterSpec& spec : policy.info.parameters) {
    if (scenario_.routing.given.at(spec.name) == spec.default_value) continue;
    report.warnings.push_back(
        fmt::format("routing.{}.{} has no effect: network model flow has no packets to choose for",
                    policy.info.name, spec.name));
  }
  const auto loses = [](const topologies::Channel& channel) { return channel.loss > 0; };
  if (std::ranges::any_of(topology_->channels(), loses)) {
    report.warnings.push_back(
        "links of this topology lose packets, which has no effect: network model flow has no packets");
  }
  Measurements measurements(measurements_, *topology_);
  Engine engine(scenario_.seed);
  Replay replay(program, hosts, engine);
  flow::FlowSetup setup{*topology_, *table_, policy, config};
  for (const packet::LinkChange& change : link_changes_) {
    setup.changes.push_back({change.at, change.link, change.rate_share});
  }
  flow::FlowNetwork network(engine, replay.client(), setup);
  network.set_series(measurements.series());
  replay.start(network);
  run_replay(
      replay, network, [&] { return network.run(control); }, control, report);
  measurements.close();
  report_faults(report);
  if (network.cut_off() > 0 && report.outcome == results::Outcome::kIncomplete) {
    report.diagnosis.insert(report.diagnosis.begin(),
                            fmt::format("{} messages have no link left on their way", network.cut_off()));
  }
  report.events = engine.executed();
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

void Simulation::report_faults(results::Report& report) const {
  report.faults = scenario_.faults.size();
  report.link_changes = static_cast<std::uint64_t>(
      std::count_if(link_changes_.begin(), link_changes_.end(),
                    [&](const packet::LinkChange& change) { return change.at <= report.makespan; }));
}

Registries builtin_registries() {
  Registries all;
  all.networks.push_back({.info = loggops_module(), .has_partitions = true});
  all.networks.push_back(
      {.info = packet::packet_module(), .has_fabric = true, .has_packets = true, .has_partitions = true});
  all.networks.push_back({.info = flow::flow_module(), .has_fabric = true});
  for (const auto& family : topologies::families()) all.topologies.push_back(registered(family));
  for (const auto& policy : routing::policies()) {
    const bool looks_at_marks = policy.make_path_selectors != nullptr && policy.selectors_want_feedback;
    all.routing.push_back({.info = policy.info, .needs_ecn = looks_at_marks});
  }
  for (const auto& control : congestion::controls()) {
    all.congestion.push_back({.info = control.info, .needs_ecn = control.needs_ecn});
  }
  for (const auto& queue : packet::disciplines()) {
    all.queues.push_back({.info = queue.info, .marks_ecn = queue.marks});
  }
  for (const auto& workload : goal::workloads()) all.traffic.push_back(registered(workload));
  for (const auto& algorithm : goal::collective_algorithms()) {
    all.algorithms.push_back({std::string(goal::name(algorithm.kind)), algorithm.info});
  }
  for (const auto& profile : goal::selection_profiles()) all.profiles.push_back(profile.info);
  return all;
}

Simulation::Simulation(const Scenario& resolved) : scenario_(resolved) {
  if (scenario_.topology.empty()) return;
  const topologies::Family& family = find_module(topologies::families(), scenario_.topology, "topology");
  const Parameters parameters(family.info, scenario_.topology);
  topology_ = std::make_unique<topologies::Topology>(family.build(parameters));
  table_ = std::make_unique<routing::RoutingTable>(*topology_);
  topology_text_ = to_short_form(scenario_.topology.name, parameters);
  measurements_ = plan_measurements(scenario_.output, *topology_);
  link_changes_ = plan_faults(scenario_, *topology_);
}

// Those run on whole graphs only.
bool Simulation::is_compat() const {
  return scenario_.network.name == loggops_module().name &&
         Parameters(loggops_module(), scenario_.network).text("semantics") != "weft";
}

goal::Program Simulation::workload() const {
  const Job& job = scenario_.jobs.at(0);
  if (job.traffic.empty()) {
    if (!is_compat()) return goal::open_program(job.goal);
    return goal::Program(std::make_unique<const goal::Graph>(goal::read_graph(job.goal)));
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

results::Report Simulation::run(const goal::Program& program, RunControl& control) const {
  results::Report report;
  report.seed = scenario_.seed;
  report.warnings = scenario_.warnings;
  add_remarks(scenario_.jobs.at(0).traffic, program.ranks(), report.warnings);
  report.topology = topology_text_;
  const std::string& model = scenario_.network.name;
  const bool is_packet = model == packet::packet_module().name, is_flow = model == flow::flow_module().name;
  const Parameters parameters(is_packet ? packet::packet_module()
                              : is_flow ? flow::flow_module()
                                        : loggops_module(),
                              scenario_.network);
  report.network = to_short_form(model, parameters);
  if (is_packet) {
    run_packet(parameters, program, control, report);
  } else if (is_flow) {
    run_flow(parameters, program, control, report);
  } else {
    const std::string& semantics = parameters.text("semantics");
    if (semantics == "weft") {
      run_loggops(parameters, program, control, report);
    } else if (semantics != "classic" && semantics != "atlahs") {
      parameters.fail("semantics", "it must be weft, classic or atlahs");
    } else if (program.graph() != nullptr) {
      run_compat(parameters, *program.graph(), control, report);
    } else {
      run_compat(parameters, program.packed()->graph(), control, report);
    }
  }
  report.jobs.push_back({scenario_.jobs.at(0).name, program.ranks(), report.makespan});
  return report;
}

}  // namespace weft::sim
