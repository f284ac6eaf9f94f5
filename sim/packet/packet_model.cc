#include "sim/packet/packet_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "congestion/recoveries/retransmission_timer.h"
#include "sim/packet/channel_choice.h"
#include "sim/packet/deadlock_check.h"
#include "sim/packet/deadlock_proof.h"
#include "sim/packet/packet_config.h"
#include "sim/packet/packet_memory.h"
#include "sim/packet/packet_network.h"
#include "sim/routing/policies/policies.h"
#include "sim/run/model_nics.h"
#include "sim/run/model_replay.h"
#include "sim/run/routing_remarks.h"
#include "sim/scenario/connections.h"
#include "topologies/analysis/partition.h"

namespace weft::sim::packet {
namespace {

void check(const Parameters& parameters) {
  (void)packet_config(parameters);
  (void)partitions(parameters, 1, 1);
}

// Virtual channels that the user leaves to the network.
void settle(Scenario& scenario, const topologies::Topology& topology, const routing::RoutingTable& table) {
  const routing::Policy& policy = find_module(routing::policies(), scenario.routing, "routing policy");
  const Discipline& queue = find_module(disciplines(), scenario.queue, "queue discipline");
  const Parameters of_policy(policy.info, scenario.routing), of_queue(queue.info, scenario.queue);
  if (queue.channels == nullptr) return;
  constexpr std::uint64_t kMostWork = 4 * routing::kCheckWork;  // for several checks
  const bool by_nic =
      !takes_all_nics(policy, packet_config(Parameters(packet_module(), scenario.network)).nic_choice);
  const auto nics = by_nic ? routing::NicNetwork::make(topology, table, policy.leads_to_hosts) : nullptr;
  const auto choice = choose_channels(
      policy, {of_policy, nics ? nics->topology() : topology, nics ? nics->table() : table, scenario.seed},
      queue, of_queue, kMostWork);
  if (!choice) return;
  queue.set_channels(choice->rule, scenario.queue.given);
  scenario.queue_reason = choice->reason;
}

// Trimming tells of losses in queues, and of no others.
void warn_of_lossy_links(const ModelRun& run, std::vector<std::string>& warnings) {
  const congestion::RecoveryKind& recovery =
      find_module(congestion::recoveries(), run.scenario.recovery, "loss recovery");
  const bool lossy = std::ranges::any_of(run.fabric->topology.channels(),
                                         [](const topologies::Channel& channel) { return channel.loss > 0; });
  if (!lossy || !recovery.needs.required.has(Capability::kTrim)) return;
  warnings.push_back(fmt::format(
      "links lose packets, and loss recovery {} knows of those that queues trim; others wait for a timeout, "
      "which full queues on the way make long: --recovery rack hears of them by the packets behind",
      recovery.info.name));
}

// Before the run, what the policy says of itself and whether lossless queues may lock up.
void warn(const ModelRun& run, std::vector<std::string>& warnings) {
  const Scenario& scenario = run.scenario;
  const routing::Policy& policy = find_module(routing::policies(), scenario.routing, "routing policy");
  const Discipline& queue = find_module(disciplines(), scenario.queue, "queue discipline");
  const Parameters of_policy(policy.info, scenario.routing);
  const topologies::Topology& topology = run.fabric->topology;
  add_routing_remarks(run, true, warnings);
  add_nic_remarks(run, policy, packet_config(run.parameters).nic_choice, warnings);
  const congestion::Control& control =
      find_module(congestion::controls(), scenario.congestion, "congestion control");
  if (const std::uint32_t every = packet_config(run.parameters).ack_every;
      control.wants_every_ack && every > 1) {
    warnings.push_back(fmt::format(
        "congestion control {} goes by ACKs of single packets, or a few; with ack_every={} it hears of "
        "what happens late and seldom, and may be much slower where queues drop packets",
        control.info.name, every));
  }
  warn_of_lossy_links(run, warnings);
  if (!scenario.queue_reason.empty()) return;  // they can't
  if (queue.channels == nullptr) return;
  const auto nics = nics_of(run, policy, packet_config(run.parameters).nic_choice);
  const routing::PlanSetup of_nics{of_policy, nics ? nics->topology() : topology,
                                   nics ? nics->table() : run.fabric->table, scenario.seed};
  const Parameters of_queue(queue.info, scenario.queue);
  if (!deadlock_proof(policy, of_nics, queue, of_queue, routing::kCheckWork).empty()) return;
  const auto check = check_deadlocks(policy, of_nics, queue, of_queue, routing::kCheckWork);
  if (!check) return;
  std::string text = deadlock_warning(*check, topology, queue.info.name, policy.info.name);
  if (!text.empty()) warnings.push_back(std::move(text));
}

const routing::Policy& policy_of(const ModelRun& run) {
  return find_module(routing::policies(), run.scenario.routing, "routing policy");
}

// Where hosts have several NICs.
std::string breaks_order(const Parameters& parameters) {
  return packet_config(parameters).nic_choice == NicChoice::kSpray ? "network.packet.nic_choice=spray" : "";
}

CapabilityNeeds needs(const Parameters& parameters) {
  return {.required = packet_config(parameters).cut_through ? Capability::kCutThrough : Capabilities()};
}

// In runs of so few packets there is less to gain from the cache than partitions take, in time and memory.
bool is_short(const ModelRun& run) {
  constexpr double kFewPackets = 128;  // of each host; measured: tools/bench/packet/README.md
  for (const ReplayJob& job : run.jobs) {
    if (!job.program.facts().collectives.empty()) return false;
  }
  return packets_per_host(run, packet_config(run.parameters)) < kFewPackets;
}

topologies::Partitioning partition_of(const ModelRun& run) {
  const topologies::Topology& topology = run.fabric->topology;
  const std::uint32_t threads = run.scenario.threads;
  // To divide networks of very many links takes longer than more parts than threads save.
  constexpr std::size_t kWorthDividing = std::size_t{1} << 24;
  const std::uint32_t hosts = topology.channels().size() <= kWorthDividing ? topology.hosts() : 0;
  // An observer sees all packets, in the order of events.
  if (run.fabric->observer != nullptr || needs_one_partition(run)) return {.of_vertex = {}, .parts = 1};
  const std::uint32_t parts = partitions(run.parameters, threads, is_short(run) ? 0 : hosts);
  if (parts == 1) return {.of_vertex = {}, .parts = 1};
  const std::vector<double> loads = host_loads(run);
  topologies::Partitioning partitioning = topologies::partition(topology, parts, loads);
  // Windows too short to do much in are not worth more parts than threads.
  if (parts > threads && run.parameters.integer("partitions") == 0 && partitioning.lookahead < Time::ns(50)) {
    partitioning = topologies::partition(topology, threads, loads);
  }
  return partitioning;
}

std::vector<std::uint16_t> of_hosts(const topologies::Partitioning& partitioning,
                                    const topologies::Topology& topology) {
  std::vector<std::uint16_t> partition_of_host;
  for (std::uint32_t host = 0; !partitioning.of_vertex.empty() && host < topology.hosts(); ++host) {
    partition_of_host.push_back(partitioning.of_vertex[topology.host(host)]);
  }
  return partition_of_host;
}

// A host's NICs belong to its partition.
void add_nics(const routing::NicNetwork* nics, topologies::Partitioning& partition) {
  if (nics == nullptr || partition.of_vertex.empty()) return;
  const topologies::Topology& routed = nics->topology();
  for (auto v = static_cast<std::uint32_t>(partition.of_vertex.size()); v < routed.nodes(); ++v) {
    const std::uint32_t host = nics->host_of(routed.node(v).index);
    partition.of_vertex.push_back(partition.of_vertex[routed.host(host)]);
  }
}

PacketSetup setup_of(const ModelRun& run, const routing::NicNetwork* nics) {
  const Scenario& scenario = run.scenario;
  const routing::Policy& policy = find_module(routing::policies(), scenario.routing, "routing policy");
  const congestion::Control& control =
      find_module(congestion::controls(), scenario.congestion, "congestion control");
  const congestion::RecoveryKind& recovery =
      find_module(congestion::recoveries(), scenario.recovery, "loss recovery");
  const Discipline& queue = find_module(disciplines(), scenario.queue, "queue discipline");
  PacketConfig config = packet_config(run.parameters);
  config.record_flows = run.keeps_flow_rows;
  config.connections = connection_rules(scenario);
  return {run.fabric->topology,
          run.fabric->table,
          policy,
          Parameters(policy.info, scenario.routing),
          control,
          Parameters(control.info, scenario.congestion),
          recovery,
          Parameters(recovery.info, scenario.recovery),
          queue,
          Parameters(queue.info, scenario.queue),
          config,
          {run.fabric->link_changes.begin(), run.fabric->link_changes.end()},
          nics};
}

void run_packet(const ModelRun& run, results::Report& report) {
  topologies::Partitioning partitioning = partition_of(run);
  PacketConfig config = packet_config(run.parameters);
  config.record_flows = run.keeps_flow_rows;
  expect_run(run, "a run on a packet network", forecast_memory(run, config, partitioning.parts));
  expect_division(run, 16);
  const NicChoice choice = config.nic_choice;
  const auto nics = nics_of(run, policy_of(run), choice);
  auto replay = std::make_unique<ModelReplay>(run, jobs_with(run, choice, nics.get()), partitioning.parts,
                                              of_hosts(partitioning, run.fabric->topology));
  add_nics(nics.get(), partitioning);
  auto owned = std::make_unique<PacketNetwork>(replay->engines(), replay->clients(),
                                               setup_of(run, nics.get()), std::move(partitioning));
  PacketNetwork& network = *owned;
  network.set_observer(run.fabric->observer);
  network.set_series(run.fabric->series);
  const std::vector<std::uint32_t> jobs_of_hosts = job_of_host(run);
  if (!jobs_of_hosts.empty()) {
    network.divide_bytes(jobs_of_hosts, static_cast<std::uint32_t>(run.jobs.size()));
  }
  replay->run(
      network, [&] { return network.run(run.control, run.scenario.threads); }, report);
  if (network.given_up() > 0 && report.outcome == results::Outcome::kIncomplete) {
    report.diagnosis.insert(
        report.diagnosis.begin(),
        fmt::format("{} connections were given up after {} timeouts in a row: no link was "
                    "left on their way, or all packets were lost",
                    network.given_up(), congestion::RetransmissionTimer::kMostTimeouts));
  }
  if (!network.deadlock().empty()) report.diagnosis = network.deadlock();
  give_back(run.control, std::move(owned), std::move(replay));
}

}  // namespace

NetworkModel packet_model() {
  return {.info = packet_module(),
          .has_fabric = true,
          .has_packets = true,
          .has_partitions = true,
          .has_connections = true,
          .check = check,
          .breaks_order = breaks_order,
          .needs = needs,
          .settle = settle,
          .warn = warn,
          .run = run_packet};
}

}  // namespace weft::sim::packet
