#include "sim/loggops/compat_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/loggops/atlahs.h"
#include "sim/loggops/classic.h"
#include "sim/run/host_config.h"
#include "sim/run/model_replay.h"

namespace weft::sim {
namespace {

bool is_classic(const Parameters& parameters) { return parameters.text("semantics") == "classic"; }

std::int64_t whole_ns(const Parameters& parameters, std::string_view name) {
  const Time time = parameters.time(name);
  if (time.ps() % 1000 != 0) parameters.fail(name, "the compatibility modes take whole nanoseconds only");
  return time.ps() / 1000;
}

void report_result(CompatResult result, std::span<const ReplayJob> jobs, results::Report& report) {
  report.outcome = outcome_of(result.stop, result.complete());
  report.ops = result.total_ops;
  report.executed_ops = result.executed_ops;
  report.diagnosis = std::move(result.diagnosis);
  if (result.stop == StopReason::kNone && only_leaves_messages(report, result.unreceived, jobs)) {
    warn_of_messages_left(result.unreceived, report);
  }
  const bool result_complete = report.outcome == results::Outcome::kComplete;
  for (const results::Rank& rank : result.ranks) report.makespan = std::max(report.makespan, rank.finish);
  if (report.outcome != results::Outcome::kComplete) report.stopped_at = result.stopped_at;
  report.digest = result.digest;
  report.events = result.events;
  report.messages = report.network_totals.messages = result.messages;
  report.bytes = report.network_totals.bytes = result.bytes;
  report.ranks = std::move(result.ranks);
  report.flows = std::move(result.flows);
  for (const results::Flow& flow : report.flows) report.flow_statistics.add(flow);
  results::Job& job = report.jobs.at(0);
  job.finish = report.makespan;
  job.runs = result_complete ? 1 : 0;
  job.status = result_complete                                   ? results::JobStatus::kComplete
               : report.outcome == results::Outcome::kIncomplete ? results::JobStatus::kIncomplete
                                                                 : results::JobStatus::kStopped;
}

}  // namespace

CompatParameters compat_parameters(const Parameters& parameters) {
  CompatParameters compat;
  compat.L = whole_ns(parameters, "L");
  compat.o = whole_ns(parameters, "o");
  compat.g = whole_ns(parameters, "g");
  compat.G = parameters.real("G");
  if (is_classic(parameters) && compat.G != std::floor(compat.G)) {
    parameters.fail("G", "classic takes whole nanoseconds only");
  }
  const double cpu_per_byte = parameters.real("O");
  if (cpu_per_byte != std::floor(cpu_per_byte)) {
    parameters.fail("O", "the compatibility modes take whole nanoseconds only");
  }
  compat.O = static_cast<std::int64_t>(cpu_per_byte);
  compat.S = parameters.bytes("S");
  return compat;
}

void run_compat(const ModelRun& run, results::Report& report) {
  const ReplayJob& job = run.jobs[0];
  if (run.jobs.size() > 1 || job.submit > Time() || !job.repetition.is_once() || run.starter != nullptr) {
    throw InputError("the compatibility modes know one job only, which starts at 0 and runs once");
  }
  if (job.hosts.compute_scale != 1) throw InputError("the compatibility modes don't scale compute times");
  if (job.hosts.ranks_per_host != 1) {
    Parameters(hosts_section(), run.scenario.hosts)
        .fail("ranks_per_host", "the compatibility modes know one rank on each host only");
  }
  const auto run_mode = is_classic(run.parameters) ? run_classic : run_atlahs;
  const auto replay = [&](const goal::Graph& graph) {
    return run_mode(graph, compat_parameters(run.parameters), run.control, run.scenario.output.flows);
  };
  const goal::Graph* graph = job.program.graph();
  report_result(graph != nullptr ? replay(*graph) : replay(job.program.packed()->graph()), run.jobs, report);
}

}  // namespace weft::sim
