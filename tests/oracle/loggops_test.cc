// The compatibility modes against the programs they reproduce: every rank of every recorded run.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "goal/text/text.h"
#include "sim/loggops/atlahs.h"
#include "sim/loggops/classic.h"

namespace weft::sim {
namespace {

class NeverStop : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

struct RecordedRun {
  std::string goal, simulator, parameters;
  std::vector<std::uint64_t> finish_ns;
};

std::vector<RecordedRun> read_runs(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<RecordedRun> runs;
  std::string line;
  std::getline(in, line);
  REQUIRE(line.starts_with("goal,simulator,parameters,finish_ns_per_rank"));  // the line may end in CR
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    RecordedRun run;
    std::string finish;
    std::getline(cells, run.goal, ',');
    std::getline(cells, run.simulator, ',');
    std::getline(cells, run.parameters, ',');
    std::getline(cells, finish);
    std::istringstream numbers(finish);
    for (std::uint64_t ns; numbers >> ns;) run.finish_ns.push_back(ns);
    runs.push_back(run);
  }
  return runs;
}

// "-L 3700 -o 200 -G 0.04" or "(defaults)".
CompatParameters parse_flags(const std::string& flags) {
  CompatParameters parameters;
  if (flags == "(defaults)") return parameters;
  std::istringstream words(flags);
  for (std::string flag; words >> flag;) {
    std::string value;
    REQUIRE(words >> value);
    const auto set = [&](auto& field) { REQUIRE(std::istringstream(value) >> field); };
    if (flag == "-L") {
      set(parameters.L);
    } else if (flag == "-o") {
      set(parameters.o);
    } else if (flag == "-g") {
      set(parameters.g);
    } else if (flag == "-G") {
      set(parameters.G);
    } else if (flag == "-O") {
      set(parameters.O);
    } else if (flag == "-S") {
      set(parameters.S);
    } else {
      FAIL("unknown flag " << flag);
    }
  }
  return parameters;
}

// Schedules that cannot end: the programs print times all the same, and so must we, beside the diagnosis.
bool is_deadlock(const RecordedRun& run) { return run.goal == "public/uno_test_border_incast_inter_l.goal"; }

// Replays the runs whose input is under `folder`/`prefix`; returns how many there were.
int replay_all(const std::filesystem::path& folder, const std::string& prefix) {
  std::map<std::string, goal::Graph> graphs;
  NeverStop control;
  int runs = 0;
  for (const RecordedRun& run : read_runs(folder / "expected.csv")) {
    if (!run.goal.starts_with(prefix)) continue;
    ++runs;
    auto graph = graphs.find(run.goal);
    if (graph == graphs.end()) {
      graph = graphs.emplace(run.goal, goal::read_text_file((folder / run.goal).string())).first;
    }
    const CompatParameters parameters = parse_flags(run.parameters);
    REQUIRE((run.simulator == "classic" || run.simulator == "atlahs"));
    const auto mode = run.simulator == "classic" ? &run_classic : &run_atlahs;
    const CompatResult result = mode(graph->second, parameters, control, false);
    const std::string name = fmt::format("{} {} {}", run.simulator, run.goal, run.parameters);
    INFO(name);
    CHECK(result.complete() == !is_deadlock(run));
    CHECK(result.diagnosis.empty() == result.complete());
    REQUIRE(result.finish_ns.size() == run.finish_ns.size());
    for (std::size_t rank = 0; rank < run.finish_ns.size(); ++rank) {
      if (result.finish_ns[rank] == run.finish_ns[rank]) continue;
      FAIL_CHECK(fmt::format("rank {}: expected {} ns, got {} ns", rank, run.finish_ns[rank],
                             result.finish_ns[rank]));
    }
  }
  return runs;
}

TEST_CASE("Finish times equal those of the programs on generated collectives") {
  CHECK(replay_all("tests/data/loggops", "generated/") == 224);
}

TEST_CASE("Finish times equal those of the programs on public schedules") {
  const char* oracle = std::getenv("WEFT_ORACLE_DIR");
  if (oracle == nullptr || !std::filesystem::exists(std::filesystem::path(oracle) / "loggops/public")) {
    std::cout << "skipped: public schedules; set WEFT_ORACLE_DIR to the folder that holds loggops/public\n";
    return;
  }
  CHECK(replay_all(std::filesystem::path(oracle) / "loggops", "public/") == 324);
}

}  // namespace
}  // namespace weft::sim
