// Scenarios with any number of jobs: each is resolved as if it were the only one, with what counts for it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "sim/scenario/complete.h"
#include "sim/scenario/resolve_one.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {
namespace {

// What is given in `own` counts instead of what is given in `common`.
ModuleChoice overlaid(ModuleChoice common, const ModuleChoice& own) {
  if (common.given.empty()) common.location = own.location;
  for (const auto& [name, value] : own.given) {
    common.given[name] = value;
    common.locations.erase(name);
    const auto place = own.locations.find(name);
    if (place != own.locations.end()) common.locations[name] = place->second;
  }
  if (common.name.empty()) common.name = own.name;
  return common;
}

void check_job(const Job& job) {
  if (job.at > kEndOfTime || job.repeat_for > kEndOfTime) {
    throw InputError(job.location,
                     "at and repeat_for of this job must not be after 53 days, where simulated time ends");
  }
  if (job.estimate > kEndOfTime) {
    throw InputError(job.location,
                     "estimate of this job must not be above 53 days, where simulated time ends");
  }
  if (!std::isfinite(job.compute_scale) || job.compute_scale < 0) {
    throw InputError(job.location, fmt::format("compute_scale of this job is {}, but it must be 0 or more",
                                               job.compute_scale));
  }
  if (job.repeat == 0) {
    throw InputError(job.location, "repeat of this job is 0, but it is how often it runs in all");
  }
  if ((job.repeat != 1) + (job.repeat_for != Time()) + job.repeat_until_others_end > 1) {
    throw InputError(job.location,
                     "this job is repeated in several ways; give one of repeat, repeat_for and "
                     "repeat_until_others_end");
  }
}

// Each job's own, so that results tell them apart.
void name_jobs(std::vector<Job>& jobs) {
  std::set<std::string> taken;
  for (const Job& job : jobs) {
    if (!job.name.empty() && !taken.insert(job.name).second) {
      throw InputError(job.location, fmt::format("two jobs have the name '{}'", job.name));
    }
  }
  for (Job& job : jobs) {
    if (!job.name.empty()) continue;
    const std::string base =
        job.traffic.empty() ? std::filesystem::path(job.goal).stem().string() : job.traffic.name;
    job.name = base;
    for (int n = 2; !base.empty() && !taken.insert(job.name).second; ++n) {
      job.name = fmt::format("{}-{}", base, n);
    }
  }
}

void add_warnings(const std::vector<std::string>& more, std::vector<std::string>& warnings) {
  for (const std::string& warning : more) {
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(warning);
  }
}

// Puts the one job into a copy of a run's settings, with what counts for it.
void put_alone(const Job& job, RunSettings& run, std::vector<Job>& jobs) {
  run.hosts = overlaid(run.hosts, job.hosts);
  run.collectives = overlaid(run.collectives, job.collectives);
  jobs = {job};
  jobs[0].hosts = jobs[0].collectives = {};
}

// A copy with the one job; not of all jobs, as it is made for each of them.
Draft draft_of_job(const Draft& draft, std::size_t job) {
  Draft one;
  static_cast<RunSettings&>(one) = draft;
  one.placement = draft.placement;
  one.connections = draft.connections;
  put_alone(draft.jobs[job], one, one.jobs);
  return one;
}

// A job alone is its own baseline.
void drop_baseline(Scenario& scenario) {
  Output& output = scenario.output;
  if (!output.baseline) return;
  const char* const field = output.interference ? "interference" : "baseline";
  const SourceLocation place = output.location(field);
  const std::string what = fmt::format("output.{} has no effect: there is one job only", field);
  if (place.line == 0) throw InputError(place, what);
  scenario.warnings.push_back(place.prefix() + what);
  output.baseline = output.interference = false;
}

// A setting that can't act: an error where it was given for this run, a warning in a file for many.
void useless(Scenario& scenario, const SourceLocation& place, const std::string& what) {
  if (place.line == 0) throw InputError(place, what);
  scenario.warnings.push_back(place.prefix() + what);
}

void resolve_failed(Scenario& scenario) {
  if (scenario.failed.empty() || !scenario.topology.empty()) return;
  useless(scenario, scenario.failed_location,
          fmt::format("failed has no effect: network model {} has no topology", scenario.network.name));
  scenario.failed.clear();
}

// Resolves the queue of runs in which jobs wait for hosts, after all else is resolved.
void resolve_queue(Scenario& scenario, const Registries& registries) {
  const bool waits = !scenario.scheduler.empty(), has_topology = !scenario.topology.empty();
  if (scenario.nodes != 0 && (!waits || has_topology)) {
    useless(scenario, scenario.nodes_location,
            has_topology ? "nodes has no effect: the topology says how many hosts there are"
                         : "nodes has no effect without a scheduler");
    scenario.nodes = 0;
  }
  if (!waits) {
    for (Job& job : scenario.jobs) {
      if (job.estimate == Time()) continue;
      useless(scenario, job.location,
              fmt::format("estimate of job {} has no effect without a scheduler", job.name));
      job.estimate = Time();
    }
    return;
  }
  constexpr std::uint32_t kMostNodes = 1u << 24;
  if (scenario.nodes > kMostNodes) {
    throw InputError(scenario.nodes_location,
                     fmt::format("nodes is {}, and may be {} at most", scenario.nodes, kMostNodes));
  }
  if (scenario.nodes == 0 && !has_topology) {
    throw InputError(
        scenario.scheduler.location,
        fmt::format("network model {} has no hosts to count; give a number of nodes for the queue "
                    "(nodes: 64, --set nodes=64)",
                    scenario.network.name));
  }
  complete(find_info(scheduler_seam(), registries, scenario.scheduler), scenario.scheduler);
}

// Resolves all jobs, two at least, each with a name.
Scenario resolve_several(const Draft& named, const Registries& registries) {
  Scenario run;
  std::vector<Job> jobs;
  std::vector<std::string> warnings;
  // Messages share connections, unless no job has any use for that.
  const auto shares = [](const Scenario& one) { return one.connections && !one.connections->per_message; };
  for (std::size_t i = 0; i < named.jobs.size(); ++i) {
    Scenario one = resolve_one(draft_of_job(named, i), registries, true);
    Job& job = jobs.emplace_back(std::move(one.jobs[0]));
    job.hosts = std::move(one.hosts);
    job.collectives = std::move(one.collectives);
    add_warnings(one.warnings, warnings);
    if (i == 0 || (!shares(run) && shares(one))) run = std::move(one);
  }
  run.jobs = std::move(jobs);
  run.hosts = run.collectives = {};
  run.warnings = std::move(warnings);
  resolve_failed(run);
  resolve_queue(run, registries);
  return run;
}

}  // namespace

// A copy with the one job, as draft_of_job() makes it.
Scenario scenario_of_job(const Scenario& scenario, std::size_t job) {
  Scenario one;
  static_cast<RunSettings&>(one) = scenario;
  static_cast<Findings&>(one) = scenario;
  one.connections = scenario.connections;
  put_alone(scenario.jobs[job], one, one.jobs);
  return one;
}

Scenario resolve(const Draft& draft, const Registries& registries) {
  if (draft.jobs.empty()) return resolve_one(draft, registries, false);
  for (const Job& job : draft.jobs) check_job(job);
  if (draft.jobs.size() == 1) {
    if (draft.jobs[0].repeat_until_others_end) {
      throw InputError(draft.jobs[0].location,
                       "repeat_until_others_end of this job means nothing: there are no other jobs");
    }
    const bool places = !draft.scheduler.empty() || !draft.failed.empty();
    Scenario one = resolve_one(draft_of_job(draft, 0), registries, places);
    resolve_failed(one);
    resolve_queue(one, registries);
    drop_baseline(one);
    return one;
  }
  Draft named = draft;
  name_jobs(named.jobs);
  if (std::ranges::all_of(named.jobs, &Job::repeat_until_others_end)) {
    throw InputError(named.jobs[0].location, "all jobs are repeated until the others end: none ever would");
  }
  return resolve_several(named, registries);
}

}  // namespace weft::sim
