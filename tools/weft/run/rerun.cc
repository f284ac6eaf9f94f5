#include "tools/weft/run/rerun.h"

#include "sim/plugins/load.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "tools/weft/run/run_control.h"

namespace weft::cli {

Rerun::Rerun(const std::string& scenario_path, Phases& phases, bool quiet) : phases_(phases), quiet_(quiet) {
  for (const std::string& plugin : sim::plugins_named_in(scenario_path)) sim::load_plugin(plugin);
  const sim::Registries registries = sim::builtin_registries();
  scenario_ = sim::resolve_with_list(sim::read_scenario_file(registries, scenario_path, {}), registries);
  scenario_.output = {};
  scenario_.limits.memory_bytes = 0;
}

results::Report Rerun::run(const sim::WhatIf& what_if, const std::string& words, const Look& look) {
  phases_.enter(words);
  sim::Simulation simulation(scenario_, what_if);
  simulation.omit_flow_rows();
  if (programs_.empty()) programs_ = simulation.workload();
  TerminalControl control(scenario_.limits, phases_, quiet_);
  results::Report report = simulation.run(programs_, control);
  if (look) look(report, simulation.topology());
  return report;
}

}  // namespace weft::cli
