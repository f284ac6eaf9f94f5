#include "sim/run/job_setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/placement/exchanges.h"
#include "sim/placement/failed_hosts.h"
#include "sim/placement/job_seed.h"
#include "sim/placement/policies/policies.h"
#include "sim/run/graph_notes.h"
#include "sim/run/host_config.h"
#include "sim/run/mpi_library.h"

namespace weft::sim {
namespace {

void check_fits(const Scenario& scenario, const ReplayJob& job, std::uint32_t hosts) {
  const std::uint32_t needed = hosts_needed(job.program, job.hosts);
  if (needed <= hosts) return;
  throw InputError(
      scenario.topology.location,
      fmt::format(
          "this {} has {} hosts, but the graph needs {}; choose a larger one, or more hosts.ranks_per_host",
          scenario.topology.name, hosts, needed));
}

void place_on(placement::Machine& machine, const Scenario& scenario, std::size_t index, ReplayJob& job,
              std::vector<std::string>& remarks) {
  const Job& what = scenario.jobs[index];
  if (job.program.ranks() == 0) return;
  placement::Request request{
      .ranks = job.program.ranks(),
      .ranks_per_node = job.hosts.ranks_per_host,
      .seed = placement::seed_of_job(scenario.seed, index),
  };
  std::vector<placement::Exchange> exchanges;
  placement::Outcome outcome;
  try {
    exchanges = exchanges_for_placement(what, job);
    request.exchanges = exchanges;
    outcome = place_job(what, request, machine);
  } catch (const InputError& error) {
    if (!what.placement.location.file.empty()) throw;
    throw InputError(what.location, fmt::format("job {}: {}", what.name, error.what()));
  }
  if (!outcome.no_room.empty()) {
    throw InputError(
        what.location,
        fmt::format("job {} can't be placed: {}; jobs keep their hosts for the whole run, so all must fit at "
                    "once: choose a larger topology, or more ranks_per_host",
                    what.name, outcome.no_room));
  }
  if (!outcome.remark.empty()) remarks.push_back(fmt::format("job {}: {}", what.name, outcome.remark));
  job.host_of_rank = std::move(outcome.hosts);
  for (const std::uint32_t host : job.host_of_rank) machine.state[host] = placement::HostState::kTaken;
}

Repetition repetition_of(const Job& job) {
  return {.times = job.repeat, .until_others_end = job.repeat_until_others_end, .duration = job.repeat_for};
}

// Most hosts of a node whose accelerators are the hosts; 0 where there are none.
std::uint32_t accelerators_of_a_node(const topologies::Topology* topology) {
  if (topology == nullptr || !topology->has_domains()) return 0;
  std::map<std::uint32_t, std::uint32_t> sizes;  // by domain
  for (std::uint32_t host = 0; host < topology->hosts(); ++host) {
    const std::uint32_t domain = topology->node(topology->host(host)).domain;
    if (domain != topologies::kNoDomain) ++sizes[domain];
  }
  std::uint32_t most = 0;
  for (const auto& [domain, count] : sizes) most = std::max(most, count);
  return most;
}

// NCCL sees which ranks share a node, wherever they were placed. Where nodes are to be others than the
// topology's, as the profile says or ranks share accelerators, consecutive ranks fill them.
void know_groups(const topologies::Topology* topology, std::uint32_t accelerators, ReplayJob& job) {
  std::vector<std::uint32_t> nodes;
  if (accelerators > 1 && job.hosts.ranks_per_host == 1 &&
      job.hosts.collectives.gpus_of_a_node() == accelerators) {
    for (std::uint32_t rank = 0; rank < job.program.ranks(); ++rank) {
      const std::uint32_t host = job.host_of_rank.empty() ? rank : job.host_of_rank[rank];
      const std::uint32_t domain = topology->node(topology->host(host)).domain;
      // Hosts outside nodes are alone.
      nodes.push_back(domain == topologies::kNoDomain ? UINT32_MAX - host : domain);
    }
  }
  job.hosts.collectives.know_groups(job.program.facts(), nodes);
}

void place_side_by_side(std::vector<ReplayJob>& jobs) {
  std::uint64_t first = 0;
  for (ReplayJob& job : jobs) {
    if (first > 0) {
      for (std::uint32_t r = 0; r < job.program.ranks(); ++r) {
        job.host_of_rank.push_back(static_cast<std::uint32_t>(first + r / job.hosts.ranks_per_host));
      }
    }
    first += hosts_needed(job.program, job.hosts);
    if (first > INT32_MAX) throw InputError("the jobs need more than 2^31 - 1 hosts together");
  }
}

}  // namespace

placement::Machine machine_of(const Scenario& scenario, const topologies::Topology& topology) {
  placement::Machine machine = placement::idle_machine(topology);
  if (!scenario.failed.empty()) {
    placement::fail_hosts(scenario.failed, scenario.failed_location, scenario.seed, machine);
  }
  return machine;
}

void follow_libraries(Scenario& scenario, std::span<const goal::Program> programs,
                      std::vector<std::string>& remarks) {
  if (scenario.jobs.size() == 1) return follow_library(scenario, programs[0], remarks);
  // A remark that many jobs have in common is told once.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> told;
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    Scenario one = scenario_of_job(scenario, i);
    std::vector<std::string> own;
    follow_library(one, programs[i], own);
    scenario.jobs[i].hosts = std::move(one.hosts);
    scenario.jobs[i].collectives = std::move(one.collectives);
    for (std::string& remark : own) {
      const auto known = std::ranges::find(told, remark, &decltype(told)::value_type::first);
      if (known != told.end()) {
        known->second.push_back(i);
      } else {
        told.push_back({std::move(remark), {i}});
      }
    }
  }
  for (const auto& [remark, jobs] : told) {
    const std::string& first = scenario.jobs[jobs.front()].name;
    remarks.push_back(jobs.size() == 1
                          ? fmt::format("job {}: {}", first, remark)
                          : fmt::format("job {} and {} more: {}", first, jobs.size() - 1, remark));
  }
}

std::vector<placement::Exchange> exchanges_for_placement(const Job& what, const ReplayJob& job) {
  if (!placement::policy_of(what.placement).needs_exchanges) return {};
  return placement::exchanges_of(job.program, job.hosts.collectives);
}

placement::Outcome place_job(const Job& what, const placement::Request& request,
                             const placement::Machine& machine) {
  const bool sends_nothing =
      request.exchanges.empty() && placement::policy_of(what.placement).needs_exchanges;
  return placement::place(sends_nothing ? ModuleChoice() : what.placement, request, machine);
}

std::vector<ReplayJob> jobs_to_replay(const Scenario& decided, std::span<const goal::Program> programs,
                                      const topologies::Topology* topology,
                                      std::vector<std::string>& remarks) {
  std::vector<ReplayJob> jobs;
  for (std::size_t i = 0; i < decided.jobs.size(); ++i) {
    const Job& what = decided.jobs[i];
    ReplayJob& job = jobs.emplace_back(ReplayJob{.name = what.name,
                                                 .program = programs[i],
                                                 .hosts = host_config(scenario_of_job(decided, i), topology),
                                                 .submit = what.at,
                                                 .repetition = repetition_of(what)});
    job.hosts.compute_scale = what.compute_scale;
    job.hosts.overlap_slowdown = noted_overlap_slowdown(job.program);
    job.hosts.collectives.know_groups(job.program.facts());
  }
  if (!decided.scheduler.empty()) return jobs;
  if (topology == nullptr) {
    place_side_by_side(jobs);
    return jobs;
  }
  if (jobs.size() == 1 && decided.jobs[0].placement.empty()) {
    check_fits(decided, jobs[0], topology->hosts());
    return jobs;
  }
  placement::Machine machine = machine_of(decided, *topology);
  const std::uint32_t accelerators = accelerators_of_a_node(topology);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    place_on(machine, decided, i, jobs[i], remarks);
    know_groups(topology, accelerators, jobs[i]);
  }
  return jobs;
}

std::uint32_t hosts_used(std::span<const ReplayJob> jobs) {
  std::uint32_t hosts = 0;
  for (const ReplayJob& job : jobs) {
    if (job.host_of_rank.empty()) hosts = std::max(hosts, hosts_needed(job.program, job.hosts));
    for (const std::uint32_t host : job.host_of_rank) hosts = std::max(hosts, host + 1);
  }
  return hosts;
}

results::Job job_row(const ReplayJob& job) {
  results::Job row;
  row.name = job.name;
  row.ranks = job.program.ranks();
  row.submit = job.submit;
  row.hosts = job.host_of_rank;
  if (row.hosts.empty()) {
    row.hosts.resize(hosts_needed(job.program, job.hosts));
    std::iota(row.hosts.begin(), row.hosts.end(), 0);
  }
  std::sort(row.hosts.begin(), row.hosts.end());
  row.hosts.erase(std::unique(row.hosts.begin(), row.hosts.end()), row.hosts.end());
  row.nodes = static_cast<std::uint32_t>(row.hosts.size());
  return row;
}

}  // namespace weft::sim
