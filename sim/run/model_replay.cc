#include "sim/run/model_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "goal/check/check_program.h"
#include "sim/results/jobs.h"
#include "sim/units/grouped.h"
#include "sim/units/memory.h"

namespace weft::sim {
namespace {

std::vector<std::unique_ptr<Engine>> make_engines(std::uint64_t seed, std::uint32_t count) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::uint32_t p = 0; p < count; ++p) engines.push_back(std::make_unique<Engine>(seed));
  return engines;
}

std::vector<Engine*> pointers(const std::vector<std::unique_ptr<Engine>>& owned) {
  std::vector<Engine*> engines;
  for (const auto& engine : owned) engines.push_back(engine.get());
  return engines;
}

// Each rank's own calls were replayed, and the run came to its end.
void tell_differing(const ReplayJob& job, bool several, std::vector<std::string>& warnings) {
  const goal::Report report = goal::check_collectives(job.program, {.examples = 1});
  if (report.findings.empty()) return;
  std::uint64_t calls = 0;
  for (const std::uint64_t count : report.counts) calls += count;
  const std::string who =
      calls == 1 ? "a rank calls" : fmt::format("{} ranks call", grouped(static_cast<double>(calls)));
  warnings.push_back(fmt::format(
      "{}{} collectives of other kinds, roots or sizes than the rest of a communicator, as goal check "
      "tells; each goes by its own call; the first: {}",
      several ? fmt::format("job {}: ", job.name) : "", who, report.findings[0].sentence));
}

}  // namespace

results::Outcome outcome_of(StopReason reason, bool complete) {
  switch (reason) {
    case StopReason::kNone:
      break;
    case StopReason::kInterrupt:
      return results::Outcome::kInterrupted;
    case StopReason::kTimeLimit:
      return results::Outcome::kTimeLimit;
    case StopReason::kEventLimit:
      return results::Outcome::kEventLimit;
    case StopReason::kMemoryLimit:
      return results::Outcome::kMemoryLimit;
    case StopReason::kDeadlock:
      return results::Outcome::kIncomplete;
  }
  return complete ? results::Outcome::kComplete : results::Outcome::kIncomplete;
}

bool only_leaves_messages(const results::Report& report, std::uint64_t unreceived,
                          std::span<const ReplayJob> jobs) {
  if (report.outcome != results::Outcome::kIncomplete) return false;
  if (unreceived == 0 || report.executed_ops != report.ops) return false;
  return std::all_of(jobs.begin(), jobs.end(), [](const ReplayJob& job) {
    return goal::check_collectives(job.program, {.examples = 1}).findings.empty();
  });
}

void warn_of_messages_left(std::uint64_t unreceived, results::Report& report) {
  report.outcome = results::Outcome::kComplete;
  report.warnings.push_back(
      fmt::format("all operations were executed, but {} left over{}",
                  unreceived == 1 ? "a message is" : fmt::format("{} messages are", unreceived),
                  report.diagnosis.empty() ? "" : ": " + report.diagnosis[0]));
  report.diagnosis.clear();
}

std::vector<double> host_loads(const ModelRun& run) {
  std::vector<double> loads(run.hosts);
  for (const ReplayJob& job : run.jobs) {
    const std::vector<double> bytes = job.program.message_bytes();
    for (goal::Rank rank = 0; rank < job.program.ranks(); ++rank) {
      loads[job.host_of_rank.empty() ? rank / job.hosts.ranks_per_host : job.host_of_rank[rank]] +=
          bytes[rank];
    }
  }
  return loads;
}

std::vector<std::uint32_t> job_of_host(const ModelRun& run) {
  if (!run.divides_links || run.jobs.size() < 2 || run.starter != nullptr) return {};
  std::vector<std::uint32_t> jobs(run.hosts);
  for (std::uint32_t job = 0; job < run.jobs.size(); ++job) {
    for (const std::uint32_t host : run.jobs[job].host_of_rank) jobs[host] = job;
  }
  return jobs;
}

void expect_division(const ModelRun& run, double bytes_each) {
  if (job_of_host(run).empty()) return;
  const double links = static_cast<double>(run.fabric->topology.channels().size());
  const double jobs = static_cast<double>(run.jobs.size());
  expect_memory(bytes_each * links * jobs,
                fmt::format("bytes of {} jobs on {} directions of links", grouped(jobs), grouped(links)));
}

std::uint32_t nics_of_hosts(const ModelRun& run) {
  std::uint32_t most = 0;
  for (const ReplayJob& job : run.jobs) most = std::max<std::uint32_t>(most, job.program.facts().max_nic);
  return most + 1;
}

bool needs_one_partition(const ModelRun& run) {
  return run.control.counts_events() || JobReplays::needs_one_partition(run.jobs, run.starter);
}

ModelReplay::ModelReplay(const ModelRun& run, std::vector<ReplayJob> jobs, std::uint32_t partitions,
                         std::span<const std::uint16_t> partition_of_host)
    : control_(run.control),
      jobs_(run.jobs),
      owned_(make_engines(run.scenario.seed, partitions)),
      engines_(pointers(owned_)),
      replay_(std::move(jobs), run.hosts, engines_, partition_of_host, run.starter, run.timeline) {
  for (std::uint32_t p = 0; p < partitions; ++p) clients_.push_back(&replay_.client(p));
}

void ModelReplay::run_parts(std::span<Network* const> parts, const results::Reporter& network,
                            const std::function<StopReason()>& run, results::Report& report) {
  replay_.start(parts);
  control_.begin([this] { return replay_.progress(); });
  StopReason reason = run();
  // All is done but for what follows the last operation, such as ACKs: the run is as good as without a limit.
  if ((reason == StopReason::kTimeLimit || reason == StopReason::kEventLimit) && replay_.complete()) {
    control_.lift_bounds();
    reason = run();
  }
  control_.end();
  replay_.finish_timeline();
  const ReplayTotals totals = replay_.totals();
  report.outcome = outcome_of(reason, replay_.complete());
  if (report.outcome == results::Outcome::kIncomplete && reason == StopReason::kNone) {
    report.diagnosis = replay_.diagnose();
  }
  report.ops = totals.ops;
  report.executed_ops = totals.executed_ops;
  const bool leaves_messages =
      reason == StopReason::kNone && only_leaves_messages(report, totals.unreceived, jobs_);
  if (leaves_messages) warn_of_messages_left(totals.unreceived, report);
  for (std::uint32_t job = 0; job < report.jobs.size(); ++job) {
    const JobProgress progress = replay_.progress_of(job);
    results::Job& row = report.jobs[job];
    row.start = progress.start;
    row.finish = progress.finish;
    row.runs = progress.runs;
    row.overlap_slowdown = jobs_[job].hosts.overlap_slowdown;
    row.first_channel = progress.first_channel;
    if (progress.collectives_differ) tell_differing(jobs_[job], jobs_.size() > 1, report.warnings);
    row.path = progress.path;
    row.path_shares = progress.path_shares;
    row.cpu_times = replay_.cpu_times_of(job);
    row.status = progress.complete || leaves_messages              ? results::JobStatus::kComplete
                 : !progress.started                               ? results::JobStatus::kNotStarted
                 : report.outcome == results::Outcome::kIncomplete ? results::JobStatus::kIncomplete
                                                                   : results::JobStatus::kStopped;
  }
  report.makespan = totals.makespan;
  report.digest = replay_.digest();
  for (const Engine* engine : engines_) {
    report.events += engine->executed();
    if (report.outcome != results::Outcome::kComplete) {
      report.stopped_at = std::max(report.stopped_at, engine->now());
    }
  }
  if (report.outcome == results::Outcome::kTimeLimit) report.stopped_at = control_.bounds().time;
  report.messages = totals.messages;
  report.bytes = totals.bytes;
  report.network_totals = network.totals();
  report.ranks = replay_.ranks();
  report.links = network.links();
  report.job_bytes = network.job_bytes();
  report.job_links = results::job_links(report);
  report.flows = network.flows();
  report.flow_statistics = network.flow_statistics();
}

}  // namespace weft::sim
