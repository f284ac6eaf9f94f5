#include "sim/run/job_queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/jobs/schedulers.h"
#include "sim/placement/job_seed.h"
#include "sim/placement/policies/policies.h"
#include "sim/run/job_setup.h"

namespace weft::sim {
namespace {

using placement::HostState;
using placement::States;

constexpr Time kDay = Time::us(std::int64_t{86400} * 1'000'000);

// Without a topology any host is as good as any other.
placement::Outcome lowest(const placement::Request& request, const States& states) {
  placement::Outcome outcome;
  for (std::uint32_t host = 0; host < states.size() && outcome.hosts.size() < request.ranks; ++host) {
    for (std::uint32_t slot = 0; states[host] == HostState::kFree && slot < request.ranks_per_node &&
                                 outcome.hosts.size() < request.ranks;
         ++slot) {
      outcome.hosts.push_back(host);
    }
  }
  if (outcome.hosts.size() == request.ranks) return outcome;
  return {.hosts = {}, .no_room = fmt::format("{} hosts are needed, and fewer are free", request.nodes())};
}

States states_of(const Scenario& scenario, const topologies::Topology* topology) {
  if (topology == nullptr) return States(scenario.nodes, HostState::kFree);
  return machine_of(scenario, *topology).state;
}

}  // namespace

JobQueue::JobQueue(const Scenario& decided, std::span<const ReplayJob> jobs,
                   const topologies::Topology* topology)
    : scenario_(decided),
      replayed_(jobs),
      topology_(topology),
      states_(states_of(decided, topology)),
      scheduler_(jobs::make_scheduler(decided.scheduler, placement::sound_hosts(states_))) {
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    const Time estimate = decided.jobs[job].estimate;
    jobs_.push_back({.request = {.ranks = jobs[job].program.ranks(),
                                 .ranks_per_node = jobs[job].hosts.ranks_per_host,
                                 .seed = placement::seed_of_job(decided.seed, job)},
                     .estimate = estimate == Time() ? kDay : estimate});
    check(job);
  }
  tell_missing_estimates();
}

// Behind a job that is expected to take a day none fits in, so that backfilling does nothing.
void JobQueue::tell_missing_estimates() {
  const auto missing = std::ranges::count(scenario_.jobs, Time(), &Job::estimate);
  if (missing == 0 || !find_module(jobs::schedulers(), scenario_.scheduler, "scheduler").goes_by_estimates)
    return;
  remarks_.push_back(
      fmt::format("scheduler {} goes by what jobs are expected to take, and {} of {} don't say: a day is "
                  "expected of each (estimate=... in --job)",
                  scenario_.scheduler.name, missing, scenario_.jobs.size()));
}

// Would it start on an idle machine? Else it, and perhaps all behind it, would wait without end.
void JobQueue::check(std::uint32_t job) {
  const Job& what = scenario_.jobs[job];
  if (jobs_[job].request.ranks == 0) {
    throw InputError(what.location,
                     fmt::format("job {} has no ranks: it has nothing to wait for", what.name));
  }
  placement::Outcome outcome;
  try {
    outcome = place(job, states_);
  } catch (const InputError& error) {
    if (!what.placement.location.file.empty()) throw;
    throw InputError(what.location, fmt::format("job {}: {}", what.name, error.what()));
  }
  jobs_[job].exchanges = {};  // until it is its turn: those of all jobs together may be many
  if (!outcome.remark.empty()) remarks_.push_back(fmt::format("job {}: {}", what.name, outcome.remark));
  const std::string& no_room = outcome.no_room;
  if (no_room.empty()) return;
  throw InputError(what.location,
                   fmt::format("job {} could never start: {}, with no other job there", what.name, no_room));
}

placement::Outcome JobQueue::place(std::uint32_t job, States& states) {
  placement::Request request = jobs_[job].request;
  if (topology_ == nullptr) return lowest(request, states);
  std::vector<placement::Exchange>& exchanges = jobs_[job].exchanges;
  if (exchanges.empty()) exchanges = exchanges_for_placement(scenario_.jobs[job], replayed_[job]);
  request.exchanges = exchanges;
  placement::Machine machine{*topology_, std::move(states)};
  placement::Outcome outcome = place_job(scenario_.jobs[job], request, machine);
  states = std::move(machine.state);
  return outcome;
}

void JobQueue::submitted(std::uint32_t job, Time now) {
  scheduler_->submitted(now, {job, jobs_[job].request.nodes(), jobs_[job].estimate});
}

void JobQueue::finished(std::uint32_t job, Time now) {
  fragmentation_.pass(now, states_);
  for (const std::uint32_t host : jobs_[job].hosts) states_[host] = HostState::kFree;
  scheduler_->finished(now, job);
}

std::vector<JobStarter::Start> JobQueue::start(Time now) {
  fragmentation_.pass(now, states_);
  std::vector<Start> starts;
  scheduler_->schedule(now, [&](const jobs::QueuedJob& job) { return take(job.id, starts); });
  return starts;
}

bool JobQueue::take(std::uint32_t job, std::vector<Start>& starts) {
  placement::Outcome outcome = place(job, states_);
  if (!outcome.no_room.empty()) {
    jobs_[job].had_no_place = true;
    return false;
  }
  jobs_[job].exchanges = {};
  std::vector<std::uint32_t>& hosts = jobs_[job].hosts;
  hosts = outcome.hosts;
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  for (const std::uint32_t host : hosts) states_[host] = HostState::kTaken;
  starts.push_back({job, std::move(outcome.hosts)});
  return true;
}

std::uint32_t JobQueue::jobs_without_place() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(jobs_, &Waiting::had_no_place));
}

}  // namespace weft::sim
