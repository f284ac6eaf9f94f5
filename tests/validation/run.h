// A graph run as a user would run it: through a scenario's text.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "goal/graph/graph.h"
#include "sim/results/report.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"

namespace weft::validation {

struct NeverStop : sim::RunControl {
  sim::StopReason poll(Time, std::uint64_t) override { return sim::StopReason::kNone; }
};

inline sim::Simulation simulation_of(const std::string& text) {
  const sim::Registries registries = sim::builtin_registries();
  return sim::Simulation(
      sim::resolve(sim::read_scenario(registries, text, "scenario of the test"), registries));
}

// The whole of a scenario, but for its job's graph.
inline results::Report run_whole(const std::string& text, const goal::Graph& graph) {
  const sim::Simulation simulation = simulation_of(text);
  NeverStop control;
  const goal::Program program(graph);
  return simulation.run({&program, 1}, control);
}
// Runs a scenario that has traffic of its own. Throws where it does not end.
inline results::Report run_whole(const std::string& text) {
  const sim::Simulation simulation = simulation_of(text);
  NeverStop control;
  results::Report report = simulation.run(simulation.workload(), control);
  if (report.outcome != results::Outcome::kComplete) throw std::logic_error(text + " did not end");
  return report;
}

// `scenario` chooses topology, routing, congestion, queue and so on. Hosts cost nothing and send without a
// handshake, so that nothing but the network takes time.
inline results::Report run(const std::string& scenario, const goal::Graph& graph) {
  // Theory is of independent messages, and of nothing but what the scenario says.
  return run_whole(
      "job { goal: \"built by the test\" } hosts { o: \"0ns\" S: \"1000TB\" } connections: "
      "\"per_message\" fabric: \"none\"\n" +
          scenario,
      graph);
}

inline std::uint64_t signal(const results::Report& report, const std::string& name) {
  for (const auto& [signal, count] : report.network_totals.signals) {
    if (signal == name) return count;
  }
  throw std::logic_error("no signal " + name);
}

// The time of the message that took longest.
inline Time longest(const results::Report& report) {
  Time longest;
  for (const results::Flow& flow : report.flows) longest = std::max(longest, flow.finish - flow.start);
  return longest;
}

}  // namespace weft::validation
