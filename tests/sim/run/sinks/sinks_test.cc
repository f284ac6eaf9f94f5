// The list of sinks against the files that runs really leave and the documents that describe them.
#include "sim/run/sinks.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

class Control final : public RunControl {
 public:
  explicit Control(ReportSinks& sinks) : sinks_(sinks) {}
  void begin(std::function<double()>) override { sinks_.begin(); }
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }

 private:
  ReportSinks& sinks_;
};

std::string temporary(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  return path.string();
}

// Runs a shift on four hosts and writes its results; what the terminal got.
std::string run(const std::string& directory, std::vector<Setting> settings, bool quiet = true) {
  settings.push_back({"", "job.traffic", "shift:size=10KB"});
  settings.push_back({"", "output.directory", directory});
  const Registries registries = builtin_registries();
  const Scenario scenario = resolve(read_scenario(registries, "", "", settings), registries);
  std::FILE* const terminal = quiet ? nullptr : std::tmpfile();
  Simulation simulation(scenario);
  const std::vector<goal::Program> program = simulation.workload();
  ReportSinks sinks({.scenario = scenario, .terminal = terminal});
  Control control(sinks);
  results::Report report = simulation.run(program, control);
  report.scenario = to_text(scenario, registries);
  // The runs in pairs are not this folder's.
  if (scenario.output.interference) report.interference.push_back({.job = 0, .beside = 1, .slowdown = 1});
  sinks.write(report);
  if (quiet) return "";
  std::string text(static_cast<std::size_t>(std::ftell(terminal)), '\0');
  std::rewind(terminal);
  REQUIRE(std::fread(text.data(), 1, text.size(), terminal) == text.size());
  std::fclose(terminal);
  return text;
}

std::set<std::string> files_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

const std::set<std::string> kAlways = {"scenario.txtpb", "ranks.csv",    "jobs.csv",      "hosts.csv",
                                       "links.csv",      "summary.json", "results.sqlite"};
std::set<std::string> and_always(std::set<std::string> more) {
  more.insert(kAlways.begin(), kAlways.end());
  return more;
}

// Everything that can be recorded.
const std::vector<Setting> kAll = {
    {"", "topology", "single_switch:hosts=4"}, {"", "output.sample_interval", "1us"},
    {"", "output.packet_log", "0-1"},          {"", "output.pcapng", "0"},
    {"", "job", "traffic=[shift:ranks=2]"},    {"", "job", "traffic=[shift:ranks=2]"},
    {"", "output.interference", "true"}};

}  // namespace

TEST_CASE("sinks: a run leaves the files of those that act, and no others") {
  const std::string folder = temporary("files");
  const Setting loggops{"", "network", "loggops"}, ranks{"", "job.traffic.shift.ranks", "4"};
  // The shift comes last and keeps the ranks.
  run(folder, {loggops, ranks});
  CHECK(files_in(folder) == and_always({"flows.csv"}));
  run(folder, {loggops, ranks, {"", "output.flows", "false"}});
  CHECK(files_in(folder) == kAlways);
  run(folder, kAll);
  std::set<std::string> listed;
  for (const Sink& sink : sinks()) {
    for (const SinkFile& file : sink.files) CHECK(listed.insert(file.name).second);
  }
  CHECK(files_in(folder) == listed);
  // What an earlier run left and this one doesn't write is gone; what is not ours stays.
  std::ofstream(folder + "/notes.txt") << "mine";
  run(folder, {{"", "topology", "single_switch:hosts=4"}, {"", "network", "flow"}});
  CHECK(files_in(folder) == and_always({"flows.csv", "notes.txt"}));
}

TEST_CASE("sinks: tables begin with the columns that are listed") {
  const std::string folder = temporary("columns");
  run(folder, kAll);
  for (const Sink& sink : sinks()) {
    for (const SinkFile& listed : sink.files) {
      INFO(listed.name);
      std::ifstream file(folder + "/" + listed.name);
      std::string first, second;
      std::getline(file, first);
      std::getline(file, second);
      CHECK(listed.columns.empty() != (fs::path(listed.name).extension() == ".csv"));
      if (listed.columns.empty()) continue;
      CHECK(first == listed.columns);
      CHECK(std::count(second.begin(), second.end(), ',') == std::count(first.begin(), first.end(), ','));
    }
  }
}

TEST_CASE("sinks: files and columns are documented") {
  std::ifstream list("sim/results/README.md"), sections("sim/results/FILES.md");
  const std::string readme{std::istreambuf_iterator<char>(list), {}};
  const std::string files{std::istreambuf_iterator<char>(sections), {}};
  for (const Sink& sink : sinks()) {
    INFO(sink.info.name);
    CHECK_THAT(readme, Contains("\n| `" + sink.info.name + "` |"));
    for (const SinkFile& listed : sink.files) {
      const std::size_t begin = files.find("\n## `" + listed.name + "`\n");
      REQUIRE(begin != std::string::npos);
      const std::string section = files.substr(begin, files.find("\n## ", begin + 1) - begin);
      std::istringstream columns(listed.columns);
      for (std::string column; std::getline(columns, column, ',');) {
        CHECK_THAT(section, Contains("`" + column + "`"));
      }
    }
  }
}

TEST_CASE("sinks: the terminal has the summary unless nobody reads it") {
  const std::string folder = temporary("terminal");
  CHECK_THAT(run(folder, {{"", "topology", "single_switch:hosts=4"}}, false), Contains(folder));
  Scenario scenario;  // no folder: nothing is written there
  CHECK(std::none_of(sinks().begin(), sinks().end(),
                     [&](const Sink& sink) { return acts(sink, {.scenario = scenario}); }));
  const auto acting = std::count_if(sinks().begin(), sinks().end(), [&](const Sink& sink) {
    return acts(sink, {.scenario = scenario, .terminal = stdout});
  });
  CHECK(acting == 1);
}

TEST_CASE("sinks: a folder that can't be is refused before the run") {
  const std::string path = temporary("file");
  std::ofstream(path) << "a file";
  Scenario scenario;
  scenario.output.directory = path + "/below";
  CHECK_THROWS_WITH(ReportSinks({.scenario = scenario}), Contains("can't create this directory"));
}

TEST_CASE("sinks: a report without a run that began is a bug, not a removal of what the run wrote") {
  Scenario scenario;
  scenario.output.directory = temporary("not_begun");
  ReportSinks sinks({.scenario = scenario});
  CHECK_THROWS_AS(sinks.write({}), std::logic_error);
}

}  // namespace weft::sim
