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

// `scenario` chooses topology, routing, congestion, queue and so on. Hosts cost nothing and send without a
// handshake, so that nothing but the network takes time.
inline results::Report run(const std::string& scenario, const goal::Graph& graph) {
  const sim::Registries registries = sim::builtin_registries();
  // Theory is of independent messages, and of nothing but what the scenario says.
  const std::string text =
      "job { goal: \"built by the test\" } hosts { o: \"0ns\" S: \"1000TB\" } connections: "
      "\"per_message\" fabric: \"none\"\n" +
      scenario;
  const sim::Simulation simulation(
      sim::resolve(sim::read_scenario(registries, text, "scenario of the test"), registries));
  NeverStop control;
  const goal::Program program(graph);
  return simulation.run({&program, 1}, control);
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
