// A run that is settled: every default is filled in, all settings fit together, and what has no effect is
// left out.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/scenario/connection_choice.h"
#include "sim/scenario/draft.h"
#include "sim/scenario/registries.h"
#include "sim/scenario/run_settings.h"
#include "sim/scenario/seams.h"

namespace weft::sim {

// What the resolver finds out beside the settings. No file has it.
struct Findings {
  // Why this fabric, where none was named; and what is set otherwise than in it: "routing ecmp instead of
  // reps".
  std::string fabric_reason;
  std::vector<std::string> fabric_changes;
  std::string routing_reason;  // why this routing policy, where none was chosen: "recommended for torus"
  // The detouring policy that this network would have, but for the time it takes to balance its ways; else
  // "".
  std::string detours_left_out;
  std::string queue_choice;  // why this queue discipline, where none was chosen: "made for nscc"
  // Why these virtual channels, where the queue's parameters left that open: then packets can't wait for each
  // other in a circle. Filled by whoever knows the network.
  std::string queue_reason;
  std::vector<std::string> warnings;  // of settings that don't act in this run, one sentence each
};

struct Scenario : RunSettings, Findings {
  std::vector<Job> jobs;                        // one at least, each with a name
  std::optional<ConnectionChoice> connections;  // none where the network model has no connections
};

// Fills in every default and checks that all settings fit together. A setting that can't act is an InputError
// if it comes from the command line, and a warning if it comes from a file, so that one file serves for
// several network models; it is then dropped. REQUIRES: no job list.
Scenario resolve(const Draft& draft, const Registries& registries);

// Tells a scenario as a draft, to be changed and resolved again, or written. Unchanged it gives the same
// scenario, but for the findings: nothing is left open in it.
Draft draft_of(const Scenario& scenario);

// The scenario with the one job only, and what counts for it.
Scenario scenario_of_job(const Scenario& scenario, std::size_t job);

// Reads a file (path "" for none) and resolves it.
Scenario load_scenario(const Registries& registries, const std::string& path,
                       std::span<const Setting> settings);

// A scenario file that gives this scenario when it is read and resolved.
std::string to_text(const Scenario& scenario, const Registries& registries);

}  // namespace weft::sim
