// The seam for network models: what an entry says of a model, and what the model gets to run with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/link_change.h"
#include "sim/replay/jobs.h"
#include "sim/results/report.h"
#include "sim/results/series.h"
#include "sim/routing/table/routing_table.h"
#include "sim/scenario/scenario.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

namespace packet {
class Observer;
}

// The links that a network is made of, and what is to be recorded of them.
struct ModelFabric {
  const topologies::Topology& topology;
  const routing::RoutingTable& table;        // all links up
  std::span<const LinkChange> link_changes;  // in the order of time and then of links
  packet::Observer* observer = nullptr;      // null: nobody looks at packets
  results::Series* series = nullptr;         // null: no samples
};

// One run, as a network model sees it.
struct ModelRun {
  const Scenario& scenario;             // the modules it names exist, their parameters have their types
  const Parameters& parameters;         // of the model itself
  std::span<const ReplayJob> jobs;      // one at least; on hosts that there are
  std::uint32_t hosts;                  // so many are there, or needed
  JobStarter* starter;                  // null: jobs start when they are submitted
  const ModelFabric* fabric;            // null for a model without one
  bool keeps_flow_rows;                 // Report::flows is wanted
  bool divides_links;                   // Report::job_bytes is wanted, if there are several jobs
  results::TimelineRecorder* timeline;  // null: it isn't wanted
  RunControl& control;                  // says when to stop; scenario.threads are there to use
};

// A network model: an entry of the list in network_models.cc.
struct NetworkModel {
  ModuleInfo info;
  // What it is made of. Other modules and settings depend on these alone, never on the model's name.
  bool has_fabric = false;       // a topology, with routing
  bool has_packets = false;      // queues, congestion control, loss; may be observed packet by packet
  bool has_partitions = false;   // runs on several threads
  bool has_connections = false;  // messages may share connections
  bool has_fluids = false;  // messages that go the same way at the same time are like one with their bytes
  // Throws InputError for parameters that make no sense.
  void (*check)(const Parameters& parameters) = nullptr;
  // Must the whole graph be in memory? Null: no, a packed file is read while it is replayed.
  bool (*needs_graph)(const Parameters& parameters) = nullptr;
  // What of its parameters makes packets of a connection overtake each other, as users write it; "": nothing.
  // Null: nothing ever.
  std::string (*breaks_order)(const Parameters& parameters) = nullptr;
  // Says what it needs of queues. Null: nothing.
  CapabilityNeeds (*needs)(const Parameters& parameters) = nullptr;
  // Puts what follows from the network in the place of what the scenario leaves open. Null: nothing does.
  // Throws InputError.
  void (*settle)(Scenario& scenario, const topologies::Topology& topology,
                 const routing::RoutingTable& table) = nullptr;
  // Adds a sentence for each setting that can't act in this run. Null: the resolver finds all of them.
  void (*warn)(const ModelRun& run, std::vector<std::string>& warnings) = nullptr;
  // Builds the network, replays the program on it, and fills in what model_replay.h lists, for a run that was
  // stopped or could not go on too. Throws InputError for what doesn't fit together.
  void (*run)(const ModelRun& run, results::Report& report) = nullptr;
};

}  // namespace weft::sim
