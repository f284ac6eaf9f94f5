// From a resolved scenario to a report: reads or generates the graph, builds the network that was chosen and
// replays the graph on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/link_change.h"
#include "sim/network_model.h"
#include "sim/results/report.h"
#include "sim/routing/table/routing_table.h"
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
  explicit Simulation(const Scenario& resolved);

  // Leaves Report::flows empty, but not the statistics of flows: for who has no use for a row of each
  // message, which takes 40 to 64 bytes. (The compatibility modes have the one from the other.)
  void omit_flow_rows() { omits_flow_rows_ = true; }

  // The program of the scenario's one job: from its file, or generated. A packed file is left to be read
  // while it is replayed, unless the network model is a compatibility mode. Throws InputError.
  goal::Program workload() const;
  // Replays the program; may be called again. All of the report but `wall_seconds`, `peak_memory_bytes` and
  // `scenario` is filled in, for a run that was stopped or could not go on too. Throws InputError if network
  // and program don't fit together, and where a file turns out to be damaged.
  results::Report run(const goal::Program& program, RunControl& control) const;

 private:
  void check_recommended_routing();
  Scenario decided(const goal::Program& program, std::vector<std::string>& remarks) const;
  void check_hosts(const goal::Program& program, const HostConfig& hosts) const;
  void run_model(const goal::Program& program, RunControl& control, results::Report& report) const;

  Scenario scenario_;
  const NetworkModel& model_;
  Parameters parameters_;  // of the model
  bool omits_flow_rows_ = false;
  std::unique_ptr<topologies::Topology> topology_;  // null for a network model without one
  std::unique_ptr<routing::RoutingTable> table_;
  std::string topology_text_;
  std::vector<LinkChange> link_changes_;
};

}  // namespace weft::sim
