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

results::Report Rerun::run(const sim::WhatIf& what_if, const std::string& words, const Look& look,
                           Keeps keeps) {
  phases_.enter(words);
  sim::Scenario scenario = scenario_;
  if (keeps.path_shares) sim::put_in_one_partition(scenario);
  return run(scenario, what_if, look, keeps);
}

results::Report Rerun::run_changed(const std::function<void(sim::Scenario&)>& change,
                                   const std::string& words, bool draws_anew) {
  phases_.enter(words);
  sim::Scenario scenario = scenario_;
  change(scenario);
  return run(scenario, {}, nullptr, {}, draws_anew);
}

results::Report Rerun::run(const sim::Scenario& scenario, const sim::WhatIf& what_if, const Look& look,
                           Keeps keeps, bool draws_anew) {
  sim::Simulation simulation(scenario, what_if);
  if (!keeps.flows) simulation.omit_flow_rows();
  if (keeps.path_shares) simulation.tell_path_shares();
  if (programs_.empty()) programs_ = simulation.workload();
  const std::vector<goal::Program> programs = draws_anew ? simulation.workload() : programs_;
  TerminalControl control(scenario_.limits, phases_, quiet_);
  results::Report report = simulation.run(programs, control);
  if (look) look(report, simulation.topology());
  return report;
}

}  // namespace weft::cli
