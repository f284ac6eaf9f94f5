// From a resolved scenario to a report: reads or generates the graph, builds the network that was chosen and
// replays the graph on it.
#pragma once

#include <memory>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/measurements.h"
#include "sim/packet/link_changes.h"
#include "sim/replay/replay.h"
#include "sim/results/report.h"
#include "sim/routing/routing_table.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Every module that is built in, the default of each kind first.
Registries builtin_registries();

// One simulation. Has no state beyond its members: any number of them can run side by side.
class Simulation {
 public:
  // Builds the topology, if the network model has one. Throws InputError for parameters that make no sense,
  // and for faults and measurements of what it doesn't have.
  explicit Simulation(const Scenario& resolved);

  // The graph of the scenario's one job: read from its file, or generated. Throws InputError.
  goal::Graph workload() const;
  // Replays the graph; may be called again. All of the report but `wall_seconds`, `peak_memory_bytes` and
  // `scenario` is filled in, for a run that was stopped or could not go on too. Throws InputError if network
  // and graph don't fit together.
  results::Report run(const goal::Graph& graph, RunControl& control) const;

 private:
  void run_loggops(const Parameters& parameters, const goal::Graph& graph, RunControl& control,
                   results::Report& report) const;
  void run_compat(const Parameters& parameters, const goal::Graph& graph, RunControl& control,
                  results::Report& report) const;
  void run_packet(const Parameters& parameters, const goal::Graph& graph, RunControl& control,
                  results::Report& report) const;
  void run_flow(const Parameters& parameters, const goal::Graph& graph, RunControl& control,
                results::Report& report) const;
  void check_hosts(const goal::Graph& graph, const HostConfig& hosts) const;
  void report_faults(results::Report& report) const;

  Scenario scenario_;
  std::unique_ptr<topologies::Topology> topology_;  // null for a network model without one
  std::unique_ptr<routing::RoutingTable> table_;
  std::string topology_text_;
  MeasurementPlan measurements_;
  std::vector<packet::LinkChange> link_changes_;
};

}  // namespace weft::sim
