#include "tools/weft/sim.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "sim/job_setup.h"
#include "sim/listed_jobs.h"
#include "sim/plugins/load.h"
#include "sim/results/report.h"
#include "sim/results/results_folder.h"
#include "sim/scenario/scenario.h"
#include "sim/simulation.h"
#include "sim/sinks.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "sim/units/printable.h"
#include "tools/weft/baseline.h"
#include "tools/weft/log.h"
#include "tools/weft/memory_limit.h"
#include "tools/weft/phases.h"
#include "tools/weft/plugins.h"
#include "tools/weft/run_control.h"

namespace weft::cli {
namespace {

struct Options {
  std::string scenario;
  // Flags that stand for a field of the scenario, in the order of the list below.
  std::vector<std::optional<std::string>> values;
  std::vector<std::string> plugins, jobs, models, faults, sets;
  bool no_flows = false;
  bool baseline = false, interference = false;
  bool quiet = false;
  bool verbose = false;
  bool dry_run = false;
};

struct Flag {
  const char* names;
  const char* path;  // of the field in the scenario
  const char* help;
};

constexpr Flag kFlags[] = {
    {"--goal", "job.goal",
     "GOAL graph to replay (.weft, .goal or .bin); a .weft is read on the way, in little memory"},
    {"--traffic", "job.traffic", "generated traffic instead of a graph: permutation:size=2MB"},
    {"--placement", "placement",
     "where ranks of jobs go that don't say it themselves: packed, random …: weft list placement"},
    {"--failed", "failed", "hosts that have failed, which no job gets: names, numbers, or a share: 3,h7,1%"},
    {"--job-list", "job_list.file",
     "the jobs of a batch system's log (SWF) or a table (CSV), which wait for hosts"},
    {"--scheduler", "scheduler",
     "which of the jobs that wait for hosts is next: fcfs, easy, conservative; they give hosts back"},
    {"--time-scale", "job_list.time_scale",
     "times of the list are divided by this: with 1e6 its seconds are microseconds"},
    {"--network", "network",
     "network model: loggops[:L=…,o=…,g=…,G=…,O=…,S=…,semantics=…], packet[:mtu=…] or "
     "flow[:mtu=…,max_rate=…]; by default packet where a topology is given, else loggops"},
    {"--topology", "topology",
     "topology of a packet or flow network: fat_tree:k=8, or fat_tree:endpoints=100 for at least so many"},
    {"--fabric", "fabric",
     "settings that belong together, for what isn't given: uet, roce, infiniband …, or none: weft list "
     "fabrics"},
    {"--routing", "routing", "routing policy: ecmp, spray, ugal, flowcut …: weft list routing"},
    {"--congestion", "congestion", "congestion control: nscc, dctcp, hpcc …: weft list congestion"},
    {"--recovery", "recovery",
     "loss recovery: rack, go_back_n, erasure_coding:data=32,redundant=8 …: weft list recovery"},
    {"--queue", "queue", "queue discipline: ecn:kmin=…,kmax=… or droptail:capacity=…"},
    {"--connections", "connections",
     "how messages share connections: per_pair, per_message, or a number of them like '4 per_pair'"},
    {"--protocol", "hosts.protocol",
     "how hosts send messages: ideal, openmpi_tcp:eager_limit=64KiB; by default that of the trace's MPI "
     "library"},
    {"--seed", "seed", "whole number that every random draw follows from; 1 by default"},
    {"--threads", "threads", "worker threads, 1 or more; results never depend on it"},
    {"-o,--output", "output.directory", "folder for the result files; created"},
    {"--sample", "output.sample_interval",
     "interval, 10us: load and queues of links over time, in series.csv and network_series.csv"},
    {"--sample-links", "output.sample_links",
     "links to sample: switches (the ports of all; by default), all, or names like 'edge 0.0 -> *'"},
    {"--packet-log", "output.packet_log",
     "all that happens to the packets from host 3 to host 7 (3-7) or of the first message (3-7#0), in "
     "packets.csv"},
    {"--pcapng", "output.pcapng", "hosts (3 or 3,7) whose packets go to capture.pcapng, for Wireshark"},
};

std::string long_name(const Flag& flag) {
  const std::string names = flag.names;
  return names.substr(names.find("--"));
}

int exit_code_of(results::Outcome outcome) {
  switch (outcome) {
    case results::Outcome::kComplete:
      return kOk;
    case results::Outcome::kIncomplete:
      return kAbnormalEnd;
    case results::Outcome::kInterrupted:
      return 128 + Phases::signal();
    default:
      return kLimit;
  }
}

void report_incomplete(const results::Report& report) {
  if (report.outcome == results::Outcome::kIncomplete) {
    log::error(fmt::format("the replay can't go on: {} of {} operations were executed", report.executed_ops,
                           report.ops));
  } else if (report.outcome != results::Outcome::kComplete) {
    log::error(fmt::format("stopped ({}) after {} of {} operations; the results are partial",
                           results::name(report.outcome), report.executed_ops, report.ops));
  }
  for (const std::string& line : report.diagnosis) {
    std::fprintf(stderr, "  %s\n", printable(line).c_str());
  }
}

// The folder's files of an earlier run stay until everything is built and the simulation starts.
class Control final : public TerminalControl {
 public:
  Control(const sim::Limits& limits, Phases& phases, bool quiet, sim::ReportSinks& sinks)
      : TerminalControl(limits, phases, quiet), sinks_(sinks) {}

  void begin(std::function<double()> fraction) override {
    sinks_.begin();
    TerminalControl::begin(std::move(fraction));
  }

 private:
  sim::ReportSinks& sinks_;
};

// Runs `work`; what ends it before its end is told in the folder of the results too.
void with_folder(sim::ReportSinks& sinks, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc& error) {
    sinks.failed(about_memory(error, ""));
    throw;
  } catch (const std::exception& error) {
    sinks.failed(printable(error.what()));
    throw;
  }
}

std::vector<std::string> plugins_of(const Options& options) {
  std::vector<std::string> plugins = sim::plugins_named_in(options.scenario);
  for (const std::string& given : options.plugins) {
    if (std::find(plugins.begin(), plugins.end(), given) == plugins.end()) plugins.push_back(given);
  }
  return plugins;
}

std::vector<sim::Setting> settings_of(const Options& options) {
  std::vector<sim::Setting> settings;
  for (std::size_t i = 0; i < std::size(kFlags); ++i) {
    if (!options.values[i]) continue;
    // Most often a script's variable that was never set: better told than left out.
    if (options.values[i]->empty()) {
      throw InputError(
          fmt::format("{}: the value is empty; expected: {}", long_name(kFlags[i]), kFlags[i].help));
    }
    settings.push_back({long_name(kFlags[i]), kFlags[i].path, *options.values[i]});
  }
  for (const std::string& job : options.jobs) settings.push_back({"--job " + job, "job", job});
  for (const std::string& model : options.models) {
    settings.push_back({"--job-model " + model, "job_list.model", model});
  }
  for (const std::string& fault : options.faults) settings.push_back({"--fault " + fault, "fault", fault});
  for (const std::string& set : options.sets) settings.push_back(sim::parse_setting(set));
  if (options.baseline) settings.push_back({"--baseline", "output.baseline", "true"});
  if (options.interference) settings.push_back({"--interference", "output.interference", "true"});
  if (options.no_flows) settings.push_back({"--no-flows", "output.flows", "false"});
  return settings;
}

int run(const Options& options, Phases& phases) {
  phases.enter("reading the scenario");
  phases.set_last_words([](const std::string& reason) { results::note_end_of_run(reason); });
  const std::vector<std::string> plugins = plugins_of(options);
  for (const std::string& plugin : plugins) sim::load_plugin(plugin);
  const sim::Registries registries = sim::builtin_registries();
  sim::Scenario scenario = sim::resolve_with_list(
      sim::read_scenario_file(registries, options.scenario, settings_of(options)), registries);
  scenario.plugins = plugins;
  if (scenario.limits.memory_bytes != 0) limit_memory(scenario.limits.memory_bytes);
  if (options.verbose) log::show_info();
  log::info(fmt::format("building the network: {} {}", scenario.network.name, scenario.topology.name));
  phases.enter(fmt::format("building the network ({})", scenario.topology.name));
  sim::Simulation simulation(scenario);
  if (scenario.output.directory.empty()) simulation.omit_flow_rows();
  scenario = simulation.scenario();
  if (options.dry_run) {
    std::fputs(sim::to_text(scenario, registries).c_str(), stdout);
    return kOk;
  }
  const std::string reading = scenario.jobs.size() == 1
                                  ? fmt::format("reading the graph of job {}", scenario.jobs[0].name)
                                  : fmt::format("reading the graphs of {} jobs", scenario.jobs.size());
  log::info(reading);
  phases.enter(reading);
  const std::vector<goal::Program> programs = simulation.workload();
  sim::Scenario decided = scenario;
  std::vector<std::string> remarks;  // the report has them
  sim::follow_libraries(decided, programs, remarks);
  for (const goal::Program& program : programs) {
    log::info(fmt::format("replaying {} operations of {} ranks", program.facts().ops, program.ranks()));
  }
  phases.enter("setting up the simulation");
  const std::string& directory = scenario.output.directory;
  std::optional<sim::ReportSinks> sinks(
      std::in_place, sim::SinkRequest{.scenario = scenario, .terminal = options.quiet ? nullptr : stdout});
  Control control(scenario.limits, phases, options.quiet, *sinks);
  results::Report report;
  with_folder(*sinks, [&] {
    std::optional<Baseline> baseline;
    if (scenario.output.baseline) {
      baseline.emplace(simulation, programs, decided, registries, directory, [&](const std::string& what) {
        log::info(what);
        return std::make_unique<TerminalControl>(scenario.limits, phases, options.quiet);
      });
    }
    report = simulation.run(programs, control);
    const bool ended =
        report.outcome == results::Outcome::kComplete || report.outcome == results::Outcome::kIncomplete;
    if (baseline && ended) baseline->measure(report);
    report.scenario = sim::to_text(sim::repeatable(decided, registries), registries);
    report.inputs = sim::input_files(scenario, registries);
    if (!options.scenario.empty()) report.inputs.insert(report.inputs.begin(), options.scenario);
    report.wall_seconds = control.seconds();
    report.peak_memory_bytes = peak_resident_bytes();
    if (!directory.empty()) log::info(fmt::format("writing results to {}", directory));
    sinks->write(report);
    if (baseline && ended) baseline->save();
  });
  sinks.reset();
  report_incomplete(report);
  const int status = exit_code_of(report.outcome);
  if (report.outcome == results::Outcome::kInterrupted) Phases::leave(status);
  return status;
}

int run(const Options& options) {
  if (options.quiet) listen_for_memory(nullptr);
  Phases phases(!options.quiet);
  try {
    return run(options, phases);
  } catch (const std::bad_alloc& error) {
    lift_memory_limit();
    log::error(about_memory(error, phases.current()));
    return kLimit;
  }
}

}  // namespace

void add_sim(Command& command, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->values.resize(std::size(kFlags));
  command.add_option("scenario", options->scenario,
                     "scenario file (Protocol Buffers text format); may be left out");
  for (std::size_t i = 0; i < std::size(kFlags); ++i) {
    command.add_option(kFlags[i].names, options->values[i], kFlags[i].help);
  }
  command
      .add_option(
          "--job", options->jobs,
          "one more job, side by side with the others: a GOAL graph and fields of a job, "
          "'lj.weft,placement=packed,at=1ms', or 'traffic=[shift:size=1MB,ranks=8],repeat=10'; may be "
          "given again")
      .repeated();
  command
      .add_option(
          "--job-model", options->models,
          "what jobs of the list do, the first that fits: "
          "'name=halo,most_ranks=64,traffic=[stencil:iterations=100]' or a GOAL graph for jobs of its "
          "size; may be given again; without one, they compute for the time that they took")
      .repeated();
  command
      .add_option("--fault", options->faults,
                  "links that fail or run badly, 'link=edge 0.0 / *,at=10us,until=50us': see weft describe "
                  "fault; may "
                  "be given again")
      .repeated();
  command.add_option("--plugin", options->plugins, kPluginHelp).repeated();
  command
      .add_option("--set", options->sets,
                  "FIELD=VALUE: any field of the scenario, e.g. topology.fat_tree.k=16")
      .repeated();
  command.add_flag("--baseline", options->baseline,
                   "run each job again alone, on the same hosts: its slowdown beside the others");
  command.add_flag("--interference", options->interference,
                   "and beside each other one: interference.csv, who slows whom");
  command.add_flag("--no-flows", options->no_flows, "don't write flows.csv (a row for each message)");
  command.add_flag("--dry-run", options->dry_run, "print the resolved scenario and stop");
  command.add_flag("-v,--verbose", options->verbose, "say on standard error what is being done");
  command.add_flag("-q,--quiet", options->quiet, "no summary and no progress line");
  command.footer(
      "Examples:\n"
      "  weft sim --goal app.weft\n"
      "  weft sim --goal app.weft --network loggops:L=3700,o=200,g=5,G=0.04,S=0 -o RUN\n"
      "  weft sim --goal app.weft --topology fat_tree:k=8 --routing ecmp --congestion dctcp -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --routing spray -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --fabric roce -o RUN\n"
      "  weft sim --traffic alltoall:size=1MB --topology fat_tree:k=16 --routing spray --network flow -o "
      "RUN\n"
      "  weft sim --traffic incast:n=16,size=1MB --topology fat_tree:k=8 --sample 10us --pcapng 0 -o RUN\n"
      "  weft sim --job lj.weft --job hpcc.weft,placement=random,at=1ms --topology fat_tree:k=8 --baseline "
      "-o RUN\n"
      "  weft sim --job-list log.swf --scheduler easy --time-scale 1e6 --topology dragonfly:endpoints=1024 "
      "--network flow -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --fault random_links=3,at=10us\n"
      "  weft sim examples/quickstart/fat_tree.txtpb --goal app.weft --set seed=7\n"
      "What to choose from: weft list. Parameters, defaults and units: weft describe NAME.\n"
      "The scenario file: sim/scenario/README.md. The files in RUN: sim/results/README.md.\n"
      "Exit status: 0 done, 2 bad input, 3 the simulation could not go on, 4 a limit was hit, 128 + the "
      "number of a signal that ended it (130: Ctrl-C); the results of a run that was stopped are partial.");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weft::cli
