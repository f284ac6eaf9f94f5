// From a scenario to a report: reads or generates the graph, builds the network that was chosen and
// replays the graph on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/link_change.h"
#include "sim/results/report.h"
#include "sim/routing/table/routing_table.h"
#include "sim/run/network_model.h"
#include "sim/run/shared_nodes.h"
#include "sim/run/what_if.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Every module that is built in, the default of each kind first.
Registries builtin_registries();

// One simulation. Has no state beyond its members: any number of them can run side by side.
class Simulation {
 public:
  // Builds the topology, if the network model has one. Throws InputError for parameters that make no sense,
  // and for faults and measurements of what it doesn't have. It names no network model: all it knows of the
  // one chosen is its entry (network_model.h).
  explicit Simulation(const Scenario& resolved, const WhatIf& what_if = {});

  // The scenario with what follows from the network: a routing policy, where what is recommended can't be
  // had, and virtual channels.
  const Scenario& scenario() const { return scenario_; }

  // Null for a network model without one.
  const topologies::Topology* topology() const { return topology_.get(); }

  // Leaves Report::flows empty, but not the statistics of flows: for who has no use for a row of each
  // message, which takes 40 to 64 bytes. (The compatibility modes have the one from the other.)
  void omit_flow_rows() { omits_flow_rows_ = true; }
  // Tells where the time of critical paths went: Job::path_shares. REQUIRES: the scenario is in one partition
  // (in_one_partition()).
  void tell_path_shares() { tells_path_shares_ = true; }

  // The programs of the scenario's jobs: from files, or generated. A packed file is left to be read while it
  // is replayed, unless the network model is a compatibility mode. Throws InputError.
  std::vector<goal::Program> workload() const;
  // Throws InputError if these programs of its jobs don't find their places on the network, as run() would
  // before anything is replayed. Of jobs that wait for hosts nothing is known before the run.
  void check_places(std::span<const goal::Program> programs) const;
  // Replays these programs of its jobs; may be called again. All of the report but `wall_seconds`,
  // `peak_memory_bytes` and `scenario` is filled in, for a run that was stopped or could not go on too.
  // Throws InputError if network and programs don't fit together, and where a file turns out to be damaged.
  // `only`: these of the jobs alone, on the hosts that they have beside the others, and without measurements.
  // Jobs that wait for hosts have those of `together`, a report of the run of all of them, and start when
  // they started there; REQUIRES: they did.
  results::Report run(std::span<const goal::Program> programs, RunControl& control,
                      std::span<const std::uint32_t> only = {},
                      const results::Report* together = nullptr) const;

 private:
  void settle_routing();
  std::int64_t ranks_of(const Parameters& traffic, std::uint32_t ranks_per_host,
                        std::uint32_t hosts_taken) const;
  std::uint32_t ranks_per_host(std::size_t job) const;
  goal::Program read_or_generate(std::size_t job, std::uint32_t hosts_taken) const;
  // With what the graphs' MPI libraries decide; adds to the remarks what that is.
  Scenario decided(std::span<const goal::Program> programs, std::vector<std::string>& remarks) const;
  void warn_of_jobs(const Scenario& decided, std::span<const ReplayJob> jobs,
                    std::vector<std::string>& warnings) const;
  void add_program_remarks(std::span<const goal::Program> programs, results::Report& report) const;
  // The network that a run is on: null without a topology.
  std::optional<ModelFabric> fabric_of(const NetworkOfSharers* sharers) const;
  std::uint32_t hosts_of_run(const Scenario& decided, std::span<const ReplayJob> jobs) const;
  void run_model(std::span<const goal::Program> programs, std::span<const std::uint32_t> only,
                 const results::Report* together, RunControl& control, results::Report& report) const;

  Scenario scenario_;
  const NetworkModel& model_;
  Parameters parameters_;  // of the model
  bool omits_flow_rows_ = false, tells_path_shares_ = false;
  std::unique_ptr<topologies::Topology> topology_;  // null for a network model without one
  std::unique_ptr<routing::RoutingTable> table_;
  std::string topology_text_;
  std::vector<LinkChange> link_changes_;
  std::vector<std::uint32_t> failed_hosts_;  // ascending
};

}  // namespace weft::sim
