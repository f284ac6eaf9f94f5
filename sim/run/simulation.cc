#include "sim/run/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/collectives/steps.h"
#include "goal/compute_times.h"
#include "goal/program.h"
#include "goal/read_graph.h"
#include "goal/workload/workload.h"
#include "sim/fabrics/fabrics.h"
#include "sim/jobs/schedulers.h"
#include "sim/packet/queues/queues.h"
#include "sim/placement/policies/policies.h"
#include "sim/replay/protocols.h"
#include "sim/results/jobs.h"
#include "sim/routing/policies/policies.h"
#include "sim/routing/table/routing_table.h"
#include "sim/run/bundling.h"
#include "sim/run/default_routing.h"
#include "sim/run/faults.h"
#include "sim/run/graph_notes.h"
#include "sim/run/job_queue.h"
#include "sim/run/job_setup.h"
#include "sim/run/measurements.h"
#include "sim/run/mpi_library.h"
#include "sim/run/nccl_nodes.h"
#include "sim/run/network_models.h"
#include "sim/run/nic_use.h"
#include "sim/run/node_device.h"
#include "sim/run/one_nic.h"
#include "sim/run/run_memory.h"
#include "sim/scenario/connections.h"
#include "sim/units/graph_error.h"
#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/recommended_routing.h"

namespace weft::sim {
namespace {

// Where and when a job that waited for hosts was in a run.
void put_as_in(const results::Report& together, std::uint32_t index, ReplayJob& job) {
  const results::Job& row = together.jobs[index];
  job.submit = row.start;
  job.least_channel = row.first_channel;
  const auto ranks = std::ranges::equal_range(together.ranks, index, {}, &results::Rank::job);
  job.host_of_rank.clear();
  for (const results::Rank& rank : ranks) job.host_of_rank.push_back(rank.host);
}

// Gives what the links of the slowest host carry into the network, where accelerators of a node share alike
// what leads out of it.
Bandwidth host_rate(const topologies::Topology& topology) {
  struct Links {
    std::int64_t bps = 0, hosts = 0;
  };
  std::map<std::uint32_t, Links> nodes;  // by domain
  std::int64_t least_bps = INT64_MAX;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const std::uint32_t domain = topology.node(topology.host(host)).domain;
    if (domain != topologies::kNoDomain) {
      ++nodes[domain].hosts;
      continue;
    }
    std::int64_t bps = 0;
    for (const std::uint32_t c : topology.out_channels(topology.host(host)))
      bps += topology.channels()[c].rate.bps();
    least_bps = std::min(least_bps, bps);
  }
  if (!nodes.empty()) {
    for (const topologies::Channel& channel : topology.channels()) {
      const std::uint32_t domain = topology.node(channel.from).domain;
      if (domain != topologies::kNoDomain && !topology.is_inside(channel.from, channel.to))
        nodes[domain].bps += channel.rate.bps();
    }
  }
  for (const auto& [domain, links] : nodes) {
    if (links.hosts > 0) least_bps = std::min(least_bps, links.bps / links.hosts);
  }
  return Bandwidth::bps(least_bps);
}

// What a generated graph is not quite.
void add_remarks(const ModuleChoice& traffic, const Scenario& scenario, const goal::Program& program,
                 std::vector<std::string>& warnings) {
  const std::string device = noted_device(program);
  if (traffic.empty()) return add_device_remark(traffic, nullptr, device, scenario, warnings);
  const goal::Workload& workload = find_module(goal::workloads(), traffic, "traffic pattern");
  add_device_remark(traffic, workload.device, device, scenario, warnings);
  if (workload.remarks == nullptr) return;
  const Parameters parameters(workload.info, with_nodes(traffic, workload, scenario));
  for (std::string& remark : workload.remarks(parameters, program.ranks())) {
    warnings.push_back(std::move(remark));
  }
}

// Why it is not recorded what ranks do when, or "".
std::string no_timeline(const Scenario& scenario, std::span<const ReplayJob> jobs) {
  constexpr std::uint64_t kMostOps = 200'000;  // that cost little
  const Output& output = scenario.output;
  if (output.directory.empty() || !output.sqlite || output.timeline == TimelineChoice::kOff)
    return "not asked for";
  if (output.timeline == TimelineChoice::kOn) return "";
  std::uint64_t ops = 0;
  for (const ReplayJob& job : jobs) ops += job.program.facts().ops * job.repetition.times;
  if (ops <= kMostOps) return "";
  return fmt::format("more than {} operations; output.timeline=on records it", kMostOps);
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
    const std::string recommended = topologies::recommended_routing(family.info.name).policy;
    fabrics::DefaultFabric fabric = fabrics::default_fabric(family.info.name, recommended);
    all.topologies.push_back({.info = family.info,
                              .routing = recommended,
                              .routing_reason = routing_reason(family.info.name),
                              .fabric = std::move(fabric.name),
                              .fabric_reason = std::move(fabric.reason),
                              .sized = topologies::sized,
                              .routed_as = topologies::routed_family});
  }
  for (const auto& policy : routing::policies()) {
    all.routing.push_back({.info = policy.info,
                           .needs = policy.needs,
                           .has_fluid = policy.fluid != routing::FluidPaths::kUnknown,
                           .keeps_order = [&policy](const Parameters& parameters) {
                             return policy.configured(parameters).keeps_order();
                           }});
  }
  for (const auto& control : congestion::controls()) {
    all.congestion.push_back({.info = control.info,
                              .needs = control.needs,
                              .queue = control.queue,
                              .queue_settings = control.queue_settings,
                              .caveat = control.caveat,
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
  for (const auto& policy : placement::policies()) all.placements.push_back({.info = policy.info});
  for (const auto& scheduler : jobs::schedulers()) all.schedulers.push_back({.info = scheduler.info});
  for (const auto& algorithm : goal::collective_algorithms()) {
    all.algorithms.push_back({std::string(goal::name(algorithm.kind)), algorithm.info});
  }
  for (const auto& profile : goal::selection_profiles()) all.profiles.push_back(profile.info);
  all.protocols.assign(protocols().begin(), protocols().end());
  all.fabrics.assign(fabrics::fabrics().begin(), fabrics::fabrics().end());
  return all;
}

Simulation::Simulation(const Scenario& resolved, const WhatIf& what_if)
    : scenario_(what_if == WhatIf{} ? resolved : changed(resolved, what_if)),
      model_(find_module(network_models(), scenario_.network, "network model")),
      parameters_(model_.info, scenario_.network) {
  if (model_.check != nullptr) model_.check(parameters_);
  if (scenario_.topology.empty()) return;
  const topologies::Family& family = find_module(topologies::families(), scenario_.topology, "topology");
  const Parameters parameters(family.info, scenario_.topology);
  topology_ = std::make_unique<topologies::Topology>(topologies::build(family, parameters));
  if (what_if.changes_network()) topology_->rescale(what_if.rates, what_if.latencies);
  table_ = std::make_unique<routing::RoutingTable>(*topology_);
  topology_text_ = to_short_form(scenario_.topology.name, parameters);
  settle_routing();
  if (model_.settle != nullptr) model_.settle(scenario_, *topology_, *table_);
  check_measurements({scenario_, topology_.get()});
  link_changes_ = plan_faults(scenario_, *topology_);
  const placement::Machine machine = machine_of(scenario_, *topology_);
  for (std::uint32_t host = 0; host < machine.state.size(); ++host) {
    if (machine.state[host] == placement::HostState::kFailed) failed_hosts_.push_back(host);
  }
}

// A recommendation is for a family; if this network of it can't have the policy, the run goes on with the
// first.
void Simulation::settle_routing() {
  // Without packets what is recommended may be out of the question already.
  const std::string family = topologies::routed_family(scenario_.topology);
  if (scenario_.routing_reason.empty() ||
      scenario_.routing.name != wanted_routing(family, scenario_.fabric).policy.name)
    return;
  const DefaultRouting best =
      default_routing(family, scenario_.fabric, *topology_, *table_, scenario_.seed, !model_.has_packets);
  scenario_.routing = best.policy;
  scenario_.routing_reason = best.reason;
  scenario_.detours_left_out = best.detours_left_out;
}

// Ranks of generated traffic: as many as given, or one on each place that is left.
std::int64_t Simulation::ranks_of(const Parameters& traffic, std::uint32_t ranks_per_host,
                                  std::uint32_t hosts_taken) const {
  const std::int64_t ranks = traffic.integer("ranks");
  if (ranks > 0) return ranks;
  if (topology_ == nullptr) {
    traffic.fail("ranks",
                 "network model " + scenario_.network.name + " has no hosts to count; give a number");
  }
  const std::uint32_t hosts = topology_->hosts() - static_cast<std::uint32_t>(failed_hosts_.size());
  if (hosts_taken >= hosts) traffic.fail("ranks", "the other jobs leave no host for it; give a number");
  return std::int64_t{hosts - hosts_taken} * ranks_per_host;
}

goal::Program Simulation::read_or_generate(std::size_t index, std::uint32_t hosts_taken) const {
  const Job& job = scenario_.jobs[index];
  if (job.traffic.empty()) {
    const bool needs_graph = model_.needs_graph != nullptr && model_.needs_graph(parameters_);
    if (!needs_graph) return goal::open_program(job.goal);
    goal::PackInfo info;
    auto graph = std::make_unique<const goal::Graph>(goal::read_graph(job.goal, &info));
    return goal::Program(std::move(graph), std::move(info));
  }
  const goal::Workload& workload = find_module(goal::workloads(), job.traffic, "traffic pattern");
  ModuleChoice traffic = with_nodes(job.traffic, workload, scenario_);
  if (workload.host_rate != nullptr && topology_ != nullptr &&
      Parameters(workload.info, traffic).automatic(workload.host_rate)) {
    // A node that stands alone has no network to load.
    if (const Bandwidth rate = host_rate(*topology_); rate.bps() > 0)
      traffic.given[workload.host_rate] = fmt::format("{}bps", rate.bps());
  }
  const Parameters parameters(workload.info, traffic);
  const bool own = workload.own_ranks != nullptr && parameters.integer("ranks") == 0;
  std::int64_t ranks = own ? workload.own_ranks(parameters) : 0;
  if (ranks == 0) ranks = ranks_of(parameters, ranks_per_host(index), hosts_taken);
  const auto number = static_cast<std::uint32_t>(ranks);
  goal::PackInfo info;
  goal::add_facts(workload, parameters, number, info.metadata);
  auto graph = std::make_unique<const goal::Graph>(workload.generate(parameters, number, scenario_.seed));
  return goal::Program(std::move(graph), std::move(info));
}

std::uint32_t Simulation::ranks_per_host(std::size_t job) const {
  const Scenario one = scenario_of_job(scenario_, job);
  return Parameters(hosts_section(), one.hosts).whole("ranks_per_host");
}

std::vector<goal::Program> Simulation::workload() const {
  std::vector<std::optional<goal::Program>> programs(scenario_.jobs.size());
  std::uint32_t hosts_taken = 0;
  std::size_t last = scenario_.jobs.size();  // of traffic that takes what the others leave
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::size_t> known;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Job& job = scenario_.jobs[i];
    const auto ranks = job.traffic.given.find("ranks");
    if (!job.traffic.empty() && programs.size() > 1 &&
        (ranks == job.traffic.given.end() || ranks->second == "0")) {
      if (last < programs.size()) {
        throw InputError(job.location,
                         fmt::format("jobs {} and {} would both have a rank on each host that the others "
                                     "leave; give their traffic a number of ranks",
                                     scenario_.jobs[last].name, job.name));
      }
      last = i;
      continue;
    }
    // What several jobs replay is opened, or generated, once.
    const auto [same, is_new] =
        known.emplace(std::pair(job.goal + "\n" + job.traffic.name, job.traffic.given), i);
    programs[i] = is_new ? read_or_generate(i, 0) : programs[same->second];
    hosts_taken += (programs[i]->ranks() + ranks_per_host(i) - 1) / ranks_per_host(i);
  }
  if (last < programs.size()) programs[last] = read_or_generate(last, hosts_taken);
  std::vector<goal::Program> all;
  for (std::optional<goal::Program>& program : programs) all.push_back(std::move(*program));
  return all;
}

Scenario Simulation::decided(std::span<const goal::Program> programs,
                             std::vector<std::string>& remarks) const {
  Scenario scenario = scenario_;
  const bool is_compat = model_.needs_graph != nullptr && model_.needs_graph(parameters_);
  if (!is_compat) {
    follow_libraries(scenario, programs, remarks);
    tell_free_reductions(scenario, programs, remarks);
  }
  add_nccl_remarks(scenario_of_job(scenario, 0), remarks);
  return scenario;
}

void Simulation::check_places(std::span<const goal::Program> programs) const {
  std::vector<std::string> remarks;  // the run has them
  (void)jobs_to_replay(decided(programs, remarks), programs, topology_.get(), remarks);
}

// What the network takes from the hosts' protocol is the same for all: that of the first job. Where jobs wait
// for hosts nothing is known of their NICs.
void Simulation::warn_of_jobs(const Scenario& decided, std::span<const ReplayJob> jobs,
                              std::vector<std::string>& warnings) const {
  const bool waits = !scenario_.scheduler.empty();
  if (!waits) tell_one_nic(topology_.get(), jobs, warnings);
  if ((waits || JobReplays::needs_one_partition(jobs, nullptr)) && scenario_.threads > 1 &&
      model_.has_partitions) {
    warnings.push_back(
        fmt::format("threads: {} asked for, but a run in which jobs {} runs on one; results are the same",
                    scenario_.threads, waits ? "wait for hosts" : "are repeated"));
  }
  const std::uint64_t buffer = connection_rules(scenario_of_job(decided, 0)).send_buffer_bytes;
  for (std::size_t i = 1; i < decided.jobs.size(); ++i) {
    if (connection_rules(scenario_of_job(decided, i)).send_buffer_bytes == buffer) continue;
    warnings.push_back(
        fmt::format("job {}: the send_buffer of its protocol has no effect: that of job {} "
                    "counts in the whole network",
                    decided.jobs[i].name, decided.jobs[0].name));
  }
}

static std::vector<ReplayJob> chosen(std::vector<ReplayJob> jobs, std::span<const std::uint32_t> only) {
  std::vector<ReplayJob> some;
  for (const std::uint32_t job : only) some.push_back(std::move(jobs[job]));
  return some;
}

// Tells which NICs were used, for models in which hosts choose among them.
static void tell_nics(const topologies::Topology* topology, const ModuleInfo& model,
                      const Parameters& parameters, results::Report& report) {
  constexpr const char* kChoice = "nic_choice";
  if (topology == nullptr ||
      std::ranges::find(model.parameters, kChoice, &ParameterSpec::name) == model.parameters.end()) {
    return;
  }
  tell_nics_used(*topology, fmt::format("network.{}.{}={}", model.name, kChoice, parameters.text(kChoice)),
                 report);
}

static void tell_settings(const Scenario& scenario, results::Report& report) {
  report.fabric = scenario.fabric;
  report.fabric_reason = scenario.fabric_reason;
  report.fabric_changes = scenario.fabric_changes;
  const auto text = [](auto modules, const ModuleChoice& choice, const char* word) {
    if (choice.empty()) return std::string();
    const ModuleInfo& info = find_module(modules, choice, word).info;
    return to_short_form(info.name, Parameters(info, choice));
  };
  report.routing = text(routing::policies(), scenario.routing, "routing policy");
  report.routing_reason = scenario.routing_reason;
  report.congestion = text(congestion::controls(), scenario.congestion, "congestion control");
  report.recovery = text(congestion::recoveries(), scenario.recovery, "loss recovery");
  report.queue = text(packet::disciplines(), scenario.queue, "queue discipline");
  report.queue_choice = scenario.queue_choice;
  report.queue_reason = scenario.queue_reason;
}

// A table of more is of no use, and would take gigabytes to keep until it is written.
static bool has_too_many_rows(const ModelRun& run, bool has_file, std::vector<std::string>& warnings) {
  constexpr double kMostFlowRows = 10e6;
  const double messages = reckoned_messages(run);
  if (messages <= kMostFlowRows) return false;
  if (!has_file) return true;
  warnings.push_back(fmt::format("flows.csv has no rows: about {:.3g} million messages are too many of them",
                                 messages * 1e-6));
  return true;
}

static void tell_protocol(const Scenario& scenario, results::Report& report) {
  const auto protocol = scenario.hosts.given.find("protocol");
  if (protocol != scenario.hosts.given.end()) report.protocol = protocol->second;
}

// Only a job alone that runs once, at the pace of its graph, has a window.
static std::optional<results::OpenLoopWindow> window_of(const Scenario& scenario,
                                                        std::span<const goal::Program> programs) {
  if (programs.size() != 1) return std::nullopt;
  const Job& job = scenario.jobs.at(0);
  const bool once = job.repeat == 1 && job.repeat_for == Time() && !job.repeat_until_others_end;
  return once && job.compute_scale == 1 ? open_loop_window(programs[0]) : std::nullopt;
}

static void tell_queue(const JobQueue& queue, results::Report& report) {
  for (std::uint32_t job = 0; job < report.jobs.size(); ++job) report.jobs[job].hosts = queue.hosts_of(job);
  report.warnings.insert(report.warnings.end(), queue.remarks().begin(), queue.remarks().end());
  report.fragmentation = queue.fragmentation();
  report.jobs_without_place = queue.jobs_without_place();
}

static void measure(results::OpenLoopWindow window, results::Report& report) {
  window.from += report.jobs[0].start;
  window.until += report.jobs[0].start;
  report.open_loop = results::open_loop(window, report.flows);
}

std::optional<ModelFabric> Simulation::fabric_of(const NetworkOfSharers* sharers) const {
  if (sharers != nullptr) return ModelFabric{sharers->topology, sharers->table, link_changes_};
  if (topology_ != nullptr) return ModelFabric{*topology_, *table_, link_changes_};
  return std::nullopt;
}

std::uint32_t Simulation::hosts_of_run(const Scenario& decided, std::span<const ReplayJob> jobs) const {
  if (topology_ != nullptr) return topology_->hosts();
  return decided.scheduler.empty() ? hosts_used(jobs) : decided.nodes;
}

void Simulation::run_model(std::span<const goal::Program> programs, std::span<const std::uint32_t> only,
                           const results::Report* together, RunControl& control,
                           results::Report& report) const {
  const Scenario scenario = decided(programs, report.warnings);
  const Scenario first = scenario_of_job(scenario, 0);
  report.connections = scenario.connections ? to_text(*scenario.connections) : "";
  tell_protocol(first, report);
  std::vector<ReplayJob> jobs = jobs_to_replay(scenario, programs, topology_.get(), report.warnings);
  bundle_channels(model_.has_fluids, topology_.get(), jobs, report.warnings);
  std::optional<JobQueue> queue;
  const bool waits = !scenario.scheduler.empty();
  if (waits && only.empty()) queue.emplace(scenario, jobs, topology_.get());
  warn_of_jobs(scenario, jobs, report.warnings);
  const auto sharers = waits ? nullptr : network_of_sharers(topology_.get(), jobs, report.warnings);
  report.hosts = hosts_of_run(scenario, jobs);
  if (!only.empty()) {
    jobs = chosen(std::move(jobs), only);
    for (std::size_t i = 0; waits && i < only.size(); ++i) put_as_in(*together, only[i], jobs[i]);
  }
  for (ReplayJob& job : jobs) job.keeps_steps = tells_path_shares_;
  for (const ReplayJob& job : jobs) report.jobs.push_back(job_row(job));
  std::optional<ModelFabric> fabric = fabric_of(sharers.get());
  std::optional<results::TimelineRecorder> recorder;
  if (only.empty()) {
    report.timeline.absent = no_timeline(scenario, jobs);
    if (report.timeline.absent.empty()) {
      report.timeline = {};
      recorder.emplace(scenario.output.timeline == TimelineChoice::kOn
                           ? results::TimelineRecorder::kMostAsked
                           : results::TimelineRecorder::kMostUnasked);
    }
  }
  const std::optional<results::OpenLoopWindow> window = window_of(scenario, programs);
  bool wants_rows = scenario_.output.flows && !omits_flow_rows_ && only.empty();
  ModelRun run{first,
               parameters_,
               jobs,
               report.hosts,
               queue ? &*queue : nullptr,
               fabric ? &*fabric : nullptr,
               wants_rows || window,
               only.empty() && !scenario_.output.directory.empty(),
               recorder ? &*recorder : nullptr,
               control};
  if (wants_rows && !window && has_too_many_rows(run, !scenario_.output.directory.empty(), report.warnings))
    run.keeps_flow_rows = wants_rows = false;
  if (model_.warn != nullptr) model_.warn(run, report.warnings);
  std::optional<Measurements> measurements;
  if (fabric && only.empty()) {
    measurements.emplace(SinkRequest{scenario_, topology_.get()});
    fabric->observer = measurements->observer();
    fabric->series = measurements->series();
  }
  try {
    model_.run(run, report);
  } catch (const GraphError& error) {
    if (scenario_.jobs.size() > 1) throw InputError(error.what());
    if (scenario_.jobs.at(0).goal.empty()) throw;
    throw InputError(SourceLocation{.file = scenario_.jobs.at(0).goal}, error.what());
  }
  if (recorder && recorder->has_begun()) report.timeline = recorder->finish();
  if (measurements) measurements->close(std::max(report.makespan, report.stopped_at), report.warnings);
  if (window) measure(*window, report);
  if (!wants_rows) report.flows = {};
  tell_nics(topology_.get(), model_.info, parameters_, report);
  if (queue) tell_queue(*queue, report);
}

void Simulation::add_program_remarks(std::span<const goal::Program> programs, results::Report& report) const {
  const bool several = programs.size() > 1;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::vector<std::string> remarks;
    add_remarks(scenario_.jobs[i].traffic, scenario_, programs[i], remarks);
    const goal::NotReplayed& lacks = programs[i].not_replayed();
    if (lacks.any()) remarks.push_back(goal::sentence(lacks));
    if (!several) report.not_replayed = lacks;
    for (std::string& sentence : goal::compute_times_warnings(programs[i].anomalies())) {
      remarks.push_back(std::move(sentence));
    }
    for (const std::string& remark : remarks) {
      report.warnings.push_back(several ? fmt::format("job {}: {}", scenario_.jobs[i].name, remark) : remark);
    }
  }
}

results::Report Simulation::run(std::span<const goal::Program> programs, RunControl& control,
                                std::span<const std::uint32_t> only, const results::Report* together) const {
  results::Report report;
  report.seed = scenario_.seed;
  report.warnings = scenario_.warnings;
  add_program_remarks(programs, report);
  report.topology = topology_text_;
  report.failed_hosts = failed_hosts_;
  if (topology_ != nullptr) {
    report.warnings.insert(report.warnings.end(), topology_->notes().begin(), topology_->notes().end());
    tell_settings(scenario_, report);
  }
  report.network = to_short_form(model_.info.name, parameters_);
  run_model(programs, only, together, control, report);
  results::find_spans(report);
  report.faults = scenario_.faults.size();
  report.link_changes =
      static_cast<std::uint64_t>(std::count_if(link_changes_.begin(), link_changes_.end(),
                                               [end = std::max(report.makespan, report.stopped_at)](
                                                   const LinkChange& change) { return change.at <= end; }));
  for (std::string& sentence : idle_faults(scenario_, std::max(report.makespan, report.stopped_at))) {
    report.warnings.push_back(std::move(sentence));
  }
  if (topology_ != nullptr) report.outages = outages(*topology_, link_changes_, report.makespan);
  if (topology_ != nullptr && report.outcome == results::Outcome::kIncomplete) {
    const std::vector<std::string> lost = cut_off_hosts(*topology_, link_changes_, Time::max());
    report.diagnosis.insert(report.diagnosis.begin(), lost.begin(), lost.end());
  }
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const std::size_t job = only.empty() ? i : only[i];
    const goal::Program& program = programs[job];
    report.jobs[i].not_replayed = program.not_replayed();
    report.jobs[i].tokens = noted_tokens(program);
    report.jobs[i].model_flops = noted_model_flops(program);
    // Scaled, what computes is another device.
    if (scenario_.jobs[job].compute_scale == 1) report.jobs[i].device_flops = noted_device_flops(program);
  }
  for (const results::Rank& rank : report.ranks) {
    report.jobs[rank.job].messages += rank.messages_sent;
    report.jobs[rank.job].bytes += rank.bytes_sent;
  }
  return report;
}

}  // namespace weft::sim
