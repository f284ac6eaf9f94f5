#include "sim/run/model_nics.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "sim/units/grouped.h"

namespace weft::sim {
namespace {

using routing::NicChoice;
using topologies::Topology;

// Links that are down from the start, ascending.
std::vector<std::uint32_t> dead_links(const ModelFabric& fabric) {
  std::vector<std::uint32_t> dead;
  for (const LinkChange& change : fabric.link_changes) {
    if (change.at == Time() && change.rate_share == 0) dead.push_back(change.link);
  }
  std::sort(dead.begin(), dead.end());
  return dead;
}

// NICs of hosts that have several, whose cables fail.
struct FailedNics {
  std::set<std::uint32_t> cables;
  std::string first;  // that fails, as "NIC 3 of host 7"
};

void add_end(const Topology& topology, std::uint32_t channel, FailedNics& failed) {
  const topologies::Vertex v = topology.channels()[channel].from;
  if (topology.node(v).kind != topologies::NodeKind::kHost) return;
  const auto nics = topology.out_channels(v);
  if (nics.size() < 2) return;
  failed.cables.insert(channel);
  if (!failed.first.empty()) return;
  const auto nic = std::ranges::find(nics, channel) - nics.begin();
  failed.first = fmt::format("NIC {} of {}", nic, topology.node(v).name);
}

FailedNics failed_nics(const ModelFabric& fabric, bool from_start) {
  FailedNics failed;
  for (const LinkChange& change : fabric.link_changes) {
    if (change.rate_share > 0 || (change.at == Time()) != from_start) continue;
    add_end(fabric.topology, 2 * change.link, failed);
    add_end(fabric.topology, 2 * change.link + 1, failed);
  }
  return failed;
}

std::string subject(const FailedNics& failed) {
  if (failed.cables.size() == 1) return fmt::format("the link of {} is", failed.first);
  return fmt::format("the links of {} NICs, {} first, are",
                     grouped(static_cast<double>(failed.cables.size())), failed.first);
}

// Who counts nodes where hosts are accelerators.
void add_shared_accelerators(const ModelRun& run, std::vector<std::string>& warnings) {
  if (!run.fabric->topology.has_domains()) return;
  std::uint32_t most = 1;
  for (const ReplayJob& job : run.jobs) most = std::max(most, job.hosts.ranks_per_host);
  if (most == 1) return;
  warnings.push_back(
      fmt::format("up to {} ranks share an accelerator, as hosts of this network are accelerators and not "
                  "nodes; ranks_per_host=1 gives each one of its own",
                  most));
}

// The fewest NICs that a host of the job's ranks has.
std::uint32_t fewest_nics(const ModelRun& run, const ReplayJob& job) {
  const Topology& topology = run.fabric->topology;
  std::uint32_t fewest = UINT32_MAX;
  for (std::uint32_t rank = 0; rank < job.program.ranks(); ++rank) {
    const std::uint32_t host =
        job.host_of_rank.empty() ? rank / job.hosts.ranks_per_host : job.host_of_rank[rank];
    if (host >= topology.hosts()) continue;  // a starter says which it is
    fewest = std::min(fewest, static_cast<std::uint32_t>(topology.out_channels(topology.host(host)).size()));
  }
  return fewest;
}

// Graphs that name NICs.
void add_named_nics(const ModelRun& run, bool are_asked, std::vector<std::string>& warnings) {
  for (const ReplayJob& job : run.jobs) {
    const std::uint32_t highest = job.program.facts().max_nic;
    if (highest == 0) continue;
    const std::string whose =
        run.jobs.size() > 1 ? fmt::format("the graph of job {}", job.name) : "the graph";
    if (!are_asked) {
      warnings.push_back(
          fmt::format("{} names NICs up to {}, which this routing or nic_choice leaves out: "
                      "nic_choice=given has messages take them",
                      whose, highest));
      continue;
    }
    const std::uint32_t nics = fewest_nics(run, job);
    if (highest < nics || nics == 0) continue;
    warnings.push_back(
        fmt::format("{} names NICs up to {}, hosts have {}: numbers beyond are taken modulo, as "
                    "NIC {} for NIC {}",
                    whose, highest, nics, highest % nics, highest));
  }
}

}  // namespace

std::unique_ptr<const routing::NicNetwork> nics_of(const ModelRun& run, const routing::Policy& policy,
                                                   NicChoice choice) {
  if (takes_all_nics(policy, choice)) return nullptr;
  return routing::NicNetwork::make(run.fabric->topology, run.fabric->table, policy.leads_to_hosts,
                                   dead_links(*run.fabric));
}

// At the slowest NIC.
static TimePerByte nic_per_byte(const topologies::Topology& topology) {
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
      least = std::min<std::uint64_t>(least, topology.channels()[c].rate.bps());
    }
  }
  return TimePerByte::ns(least == UINT64_MAX ? 0 : 8e9 / static_cast<double>(least));
}

// Gives no less than the longest way between two hosts takes, and at most twice as much: to the node that is
// farthest from the first host, and as far on.
static Time longest_latency(const topologies::Topology& topology) {
  std::vector<Time> reached(topology.nodes(), Time::max());
  using Entry = std::pair<Time, topologies::Vertex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  Time longest;
  const auto reach = [&](topologies::Vertex v, Time at) {
    if (reached[v] <= at) return;
    reached[v] = at;
    open.emplace(at, v);
  };
  reach(topology.host(0), Time());
  constexpr Time kMost = Time::ps(kEndOfTime.ps() / 8);  // sums of a few stay moments
  while (!open.empty() && longest < kMost) {
    const auto [at, v] = open.top();
    open.pop();
    if (at > reached[v]) continue;
    longest = at;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Channel& channel = topology.channels()[c];
      const Time pipeline = std::min(topology.node(channel.to).switch_latency, kMost);
      reach(channel.to, at + std::min(channel.latency, kMost) + pipeline);
    }
  }
  return std::min(longest, kMost) * 2;
}

// What hosts add to a message is latency, too.
static Time longest_latency(const ModelRun& run) {
  Time sum = longest_latency(run.fabric->topology);
  constexpr Time kMost = Time::ps(kEndOfTime.ps() / 8);
  for (const auto& [name, value] : run.parameters.values()) {
    const bool is_both = name == "host_delay";
    if (!is_both && name != "send_delay" && name != "receive_delay") continue;
    sum += std::min(run.parameters.time(name), kMost) * (is_both ? 2 : 1);
  }
  return sum;
}

std::vector<ReplayJob> jobs_with(const ModelRun& run, NicChoice choice, const routing::NicNetwork* nics) {
  std::vector<ReplayJob> jobs(run.jobs.begin(), run.jobs.end());
  const TimePerByte per_byte = nic_per_byte(run.fabric->topology);
  const Time longest = longest_latency(run);
  for (ReplayJob& job : jobs) {
    job.hosts.nic_per_byte = per_byte;
    job.hosts.longest_latency = longest;
    job.hosts.nics = routing::is_by_rank(choice) ? nics : nullptr;
    job.hosts.rails = routing::rail_use(choice, job.hosts.rails);
  }
  return jobs;
}

void add_nic_remarks(const ModelRun& run, const routing::Policy& policy, NicChoice choice,
                     std::vector<std::string>& warnings) {
  add_shared_accelerators(run, warnings);
  add_named_nics(run, routing::asks_messages(choice) && !takes_all_nics(policy, choice), warnings);
  if (takes_all_nics(policy, choice)) return;
  const FailedNics from_start = failed_nics(*run.fabric, true), later = failed_nics(*run.fabric, false);
  if (!from_start.cables.empty() && choice != NicChoice::kGiven) {
    warnings.push_back(subject(from_start) +
                       " down from the start: ranks use the other NICs of their hosts, where those have any, "
                       "until the end, as libraries choose when they set up");
  }
  if (!later.cables.empty()) {
    warnings.push_back(subject(later) +
                       " down during the run: no other NIC of the host takes its messages, as libraries "
                       "don't move them; they wait until it is back");
  }
}

}  // namespace weft::sim
