#include "sim/flow/flow_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "sim/flow/flow_memory.h"
#include "sim/flow/flow_network.h"
#include "sim/routing/checked_paths.h"
#include "sim/routing/policies/policies.h"
#include "sim/run/model_nics.h"
#include "sim/run/model_replay.h"
#include "sim/run/routing_remarks.h"
#include "sim/run/run_memory.h"
#include "sim/scenario/connections.h"

namespace weft::sim::flow {
namespace {

const routing::Policy& policy_of(const ModelRun& run) {
  return find_module(routing::policies(), run.scenario.routing, "routing policy");
}

void check(const Parameters& parameters) { (void)flow_config(parameters); }

void warn(const ModelRun& run, std::vector<std::string>& warnings) {
  add_routing_remarks(run, false, warnings);
  add_nic_remarks(run, policy_of(run), flow_config(run.parameters).nic_choice, warnings);
  const auto loses = [](const topologies::Channel& channel) { return channel.loss > 0; };
  if (std::ranges::any_of(run.fabric->topology.channels(), loses)) {
    warnings.emplace_back(
        "links of this topology lose packets, which has no effect: network model flow has no packets");
  }
}

void run_flow(const ModelRun& run, results::Report& report) {
  const routing::Policy policy =
      policy_of(run).configured(Parameters(policy_of(run).info, run.scenario.routing));
  expect_run(run, "a run at flow level", forecast_memory(run, policy));
  expect_division(run, 24);
  const NicChoice choice = flow_config(run.parameters).nic_choice;
  const auto nics = nics_of(run, policy, choice);
  FlowSetup setup{run.fabric->topology, run.fabric->table, policy, flow_config(run.parameters)};
  setup.config.record_flows = run.keeps_flow_rows;
  setup.config.connections = connection_rules(run.scenario);
  for (const LinkChange& change : run.fabric->link_changes) {
    setup.changes.push_back({change.at, change.link, change.rate_share, change.directions, change.known});
  }
  setup.nics = nics.get();
  const topologies::Topology& routed = setup.routed();
  const bool keeps_shortest = policy.fluid == routing::FluidPaths::kOne && policy.make_paths == nullptr;
  if (!keeps_shortest)
    setup.make_paths = [&](const routing::RoutingTable& table, std::span<const double> rate_shares) {
      const routing::Policy& policy = policy_of(run);
      const Parameters parameters(policy.info, run.scenario.routing);
      return routing::checked_paths_of(policy, {parameters, routed, table, run.scenario.seed, rate_shares});
    };
  auto replay = std::make_unique<ModelReplay>(run, jobs_with(run, choice, nics.get()), 1,
                                              std::span<const std::uint16_t>());
  auto owned = std::make_unique<FlowNetwork>(*replay->engines()[0], *replay->clients()[0], setup);
  FlowNetwork& network = *owned;
  network.set_series(run.fabric->series);
  const std::vector<std::uint32_t> jobs_of_hosts = job_of_host(run);
  if (!jobs_of_hosts.empty()) {
    network.divide_bytes(jobs_of_hosts, static_cast<std::uint32_t>(run.jobs.size()));
  }
  replay->run(
      network, [&] { return network.run(run.control); }, report);
  if (network.cut_off() > 0 && report.outcome == results::Outcome::kIncomplete) {
    report.diagnosis.insert(report.diagnosis.begin(),
                            fmt::format("{} messages have no link left on their way", network.cut_off()));
  }
  give_back(run.control, std::move(owned), std::move(replay));
}

}  // namespace

NetworkModel flow_model() {
  return {.info = flow_module(),
          .has_fabric = true,
          .has_connections = true,
          .has_fluids = true,
          .check = check,
          .warn = warn,
          .run = run_flow};
}

}  // namespace weft::sim::flow
