// Runs of jobs alone and in pairs, against which their slowdown beside others is measured.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/core/run_control.h"
#include "sim/results/report.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"

namespace weft::cli {

class Baseline {
 public:
  using MakeControl = std::function<std::unique_ptr<sim::RunControl>(const std::string& what)>;
  // `decided`: the scenario of the run, with what its graphs decide. `directory`: where earlier runs' times
  // are kept, in baseline.csv; "": nowhere. What is referred to must outlive it.
  Baseline(const sim::Simulation& simulation, std::span<const goal::Program> programs,
           const sim::Scenario& decided, const sim::Registries& registries, std::string directory,
           MakeControl make_control);

  // Fills in Job::alone, and Report::interference where it is asked for. Jobs that don't complete, in the run
  // or alone, are left out, with a warning.
  void measure(results::Report& report);
  // Keeps the times for later runs. Throws InputError if the file can't be written.
  void save() const;

 private:
  // Duration of one run of each of these jobs when they run together, and no others; 0: it doesn't complete.
  std::vector<Time> durations(const results::Report& report, const std::vector<std::uint32_t>& only);
  std::string key(const results::Report& report, const std::vector<std::uint32_t>& only) const;
  void load();

  const sim::Simulation& simulation_;
  std::span<const goal::Program> programs_;
  const sim::Scenario& decided_;
  const sim::Registries& registries_;
  const std::string directory_;
  const MakeControl make_control_;
  std::map<std::string, std::vector<Time>> known_;  // by key
};

}  // namespace weft::cli
