// A run that can be made again from its scenario, as it was or with one thing changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/results/report.h"
#include "sim/run/what_if.h"
#include "sim/scenario/scenario.h"
#include "tools/weft/cli/phases.h"
#include "topologies/graph/topology.h"

namespace weft::cli {

class Rerun {
 public:
  // Of a scenario file as `weft sim -o` leaves it, whose plug-ins are loaded. Throws InputError if it can't
  // be read. Nothing is written, and its limit of memory is left out. `quiet`: without progress.
  Rerun(const std::string& scenario_path, Phases& phases, bool quiet);

  // To its end, whatever that is. `words` say what is done: "running it again". Throws InputError where a
  // file that it reads doesn't do any more.
  using Look = std::function<void(const results::Report&, const topologies::Topology*)>;
  // What reports have beside the usual: rows of messages; where critical paths' time went, by one thread.
  struct Keeps {
    bool flows = false, path_shares = false;
  };
  results::Report run(const sim::WhatIf& what_if, const std::string& words, const Look& look = nullptr) {
    return run(what_if, words, look, {});
  }
  results::Report run(const sim::WhatIf& what_if, const std::string& words, const Look& look, Keeps keeps);
  // As it was, but for a change of the scenario.
  results::Report run_changed(const std::function<void(sim::Scenario&)>& change, const std::string& words);
  const sim::Scenario& scenario() const { return scenario_; }

 private:
  results::Report run(const sim::Scenario& scenario, const sim::WhatIf& what_if, const Look& look,
                      Keeps keeps);

  Phases& phases_;
  const bool quiet_;
  sim::Scenario scenario_;
  std::vector<goal::Program> programs_;
};

}  // namespace weft::cli
