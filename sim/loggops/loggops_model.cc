#include "sim/loggops/loggops_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/loggops/compat_model.h"
#include "sim/loggops/loggops.h"
#include "sim/run/host_config.h"
#include "sim/run/model_replay.h"
#include "sim/run/program_messages.h"
#include "sim/run/run_memory.h"

namespace weft::sim {
namespace {

bool is_compat(const Parameters& parameters) { return parameters.text("semantics") != "weft"; }

LogGopsConfig loggops_config(const Parameters& parameters) {
  return {parameters.time("L"), parameters.time("g"), TimePerByte::ns(parameters.real("G"))};
}

void check(const Parameters& parameters) {
  if (is_compat(parameters)) (void)compat_parameters(parameters);
}

// Nobody buys that network today, and nothing in the results would show that it was not meant.
void tell_defaults(const Parameters& parameters, std::vector<std::string>& warnings) {
  const Parameters defaults(loggops_module(), {});
  for (const char* const name : {"L", "o", "g"}) {
    if (parameters.time(name) != defaults.time(name)) return;
  }
  const double per_byte = parameters.real("G");
  if (is_compat(parameters) || per_byte != defaults.real("G")) return;
  warnings.push_back(
      fmt::format("network loggops: L, o, g and G are LogGOPSim's defaults, NICs of {:.3g} Gb/s and {} of "
                  "latency; set them for your machine (NICs of 400 Gb/s are G=0.02), or give a topology",
                  8 / per_byte, to_string(parameters.time("L"))));
}

void warn(const ModelRun& run, std::vector<std::string>& warnings) {
  tell_defaults(run.parameters, warnings);
  if (run.scenario.threads == 1) return;
  if (is_compat(run.parameters)) {
    warnings.push_back(
        fmt::format("threads: {} asked for, but the compatibility modes run on one; results are the same",
                    run.scenario.threads));
  } else if (run.parameters.time("L") == Time()) {
    warnings.push_back(
        fmt::format("threads: {} asked for, but without latency (L) messages can't be foreseen: it runs on "
                    "one; results are the same",
                    run.scenario.threads));
  }
}

FlowRecord flow_record(const ModelRun& run) {
  return run.keeps_flow_rows         ? FlowRecord::kRows
         : run.scenario.output.flows ? FlowRecord::kStatistics
                                     : FlowRecord::kNothing;
}

// Windows are as long as L, so there is one partition without it. Each has a box for each other one. Events
// are counted one by one in one partition only.
std::uint32_t partitions(const LogGopsConfig& config, const ModelRun& run, std::uint32_t hosts) {
  constexpr std::uint32_t kMost = 1024;
  const std::uint32_t threads = run.scenario.threads;
  return config.latency == Time() || needs_one_partition(run)
             ? 1
             : std::clamp<std::uint32_t>(hosts, 1, std::min(threads, kMost));
}

void run_loggops(const ModelRun& run, results::Report& report) {
  std::vector<ReplayJob> jobs(run.jobs.begin(), run.jobs.end());
  for (ReplayJob& job : jobs) {  // the hosts' parameters that the model has itself
    job.hosts.overhead = run.parameters.time("o");
    job.hosts.overhead_per_byte = TimePerByte::ns(run.parameters.real("O"));
    job.hosts.eager_limit_bytes = run.parameters.bytes("S");
    job.hosts.collective_limit_bytes = UINT64_MAX;  // its NICs send in turn as it is
    job.hosts.nic_per_byte = TimePerByte::ns(run.parameters.real("G"));
  }
  const LogGopsConfig config = loggops_config(run.parameters);
  const std::uint32_t host_count = run.hosts;
  const std::uint32_t parts = partitions(config, run, host_count);
  std::vector<std::uint16_t> partition_of_host(host_count);
  for (std::uint64_t host = 0; host < host_count; ++host) {
    partition_of_host[host] = static_cast<std::uint16_t>(host * parts / host_count);
  }
  auto replay = std::make_unique<ModelReplay>(run, std::move(jobs), parts, partition_of_host);
  auto network = std::make_unique<LogGopsNetwork>(config, nics_of_hosts(run), flow_record(run),
                                                  replay->engines(), replay->clients(), partition_of_host);
  replay->run(
      *network, [&] { return network->run(run.control, run.scenario.threads); }, report);
  give_back(run.control, std::move(network), std::move(replay));
}

// The network itself keeps next to nothing: memory goes to the ranks and their messages.
MemoryForecast forecast_memory(const ModelRun& run) {
  constexpr double kOfRun = 3e6, kOfHost = 300, kOfMessage = 360, kOfPair = 47;
  MemoryForecast forecast{.network = kOfRun + run.hosts * kOfHost};
  add_jobs(run, sizes_of(kOfMessage, kOfPair), run.keeps_flow_rows, forecast);
  return forecast;
}

// These modes know no collectives, and keep less of a rank.
MemoryForecast forecast_compat_memory(const ModelRun& run) {
  constexpr double kOfRank = 270, kOfMessage = 130;
  MemoryForecast forecast;
  for (const ReplayJob& job : run.jobs) {
    forecast.network += job.program.ranks() * kOfRank;
    forecast.results += reckon_messages(job).messages * kOfMessage;
  }
  return forecast;
}

void run_semantics(const ModelRun& run, results::Report& report) {
  expect_run(run, "a run with LogGOPS",
             is_compat(run.parameters) ? forecast_compat_memory(run) : forecast_memory(run));
  if (is_compat(run.parameters)) {
    run_compat(run, report);
  } else {
    run_loggops(run, report);
  }
}

}  // namespace

NetworkModel loggops_model() {
  return {.info = loggops_module(),
          .has_partitions = true,
          .check = check,
          .needs_graph = is_compat,
          .warn = warn,
          .run = run_semantics};
}

}  // namespace weft::sim
