#include "sim/run/bundling.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "goal/collectives/selection.h"

namespace weft::sim {

namespace {

// "4 of 16 channels of nccl_nvls_tree go as one message" → in how many collectives.
std::map<std::string, std::uint64_t> simplified(const ReplayJob& job) {
  std::map<std::string, std::uint64_t> all;
  const goal::ProgramFacts& facts = job.program.facts();
  for (const goal::Collective& collective : facts.collectives) {
    const std::uint32_t ranks = facts.communicator_size(collective.comm);
    if (ranks < 2) continue;
    const goal::ChosenAlgorithm& chosen = job.hosts.collectives.choose(collective, ranks);
    const std::string& algorithm = chosen.algorithm->info.name;
    const std::uint32_t bundle = chosen.options.bundle;
    if (bundle > 1) {
      ++all[fmt::format("{} of {} channels of {} go as one message", bundle, bundle * chosen.options.channels,
                        algorithm)];
    }
    if (chosen.options.coarse_rounds > 0) {
      ++all[fmt::format("the rounds of {} on {} ranks go as {}", algorithm, ranks,
                        chosen.options.coarse_rounds)];
    }
  }
  return all;
}

// In GB/s, of the host with the most, so that a bundle's share of the whole is rather thought too long.
double links_of_hosts(const topologies::Topology& topology) {
  double most = 0;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    double gbs = 0;
    for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
      gbs += static_cast<double>(topology.channels()[c].rate.bps()) / 8e9;
    }
    most = std::max(most, gbs);
  }
  return most;
}

// Gives the latency of the shortest way, in hops, from the first host to the last.
Time latency_across(const topologies::Topology& topology) {
  constexpr std::uint32_t kNotMet = UINT32_MAX;
  const topologies::Vertex from = topology.host(0), to = topology.host(topology.hosts() - 1);
  std::vector<std::uint32_t> came_by(topology.nodes(), kNotMet);
  std::vector<topologies::Vertex> met = {from};
  for (std::size_t i = 0; i < met.size() && came_by[to] == kNotMet; ++i) {
    for (const std::uint32_t c : topology.out_channels(met[i])) {
      const topologies::Vertex next = topology.channels()[c].to;
      if (next == from || came_by[next] != kNotMet) continue;
      came_by[next] = c;
      met.push_back(next);
    }
  }
  Time latency;
  for (topologies::Vertex v = to; v != from && came_by[v] != kNotMet;) {
    const topologies::Channel& channel = topology.channels()[came_by[v]];
    latency += channel.latency + topology.node(channel.from).switch_latency;
    v = channel.from;
  }
  return latency;
}

}  // namespace

void bundle_channels(bool has_fluids, const topologies::Topology* topology, std::vector<ReplayJob>& jobs,
                     std::vector<std::string>& warnings) {
  // Only fluids ask for these, which look at all of the network.
  const bool looks = has_fluids && topology != nullptr;
  const double rank_gbs = looks ? links_of_hosts(*topology) : 0;
  const Time latency = looks ? latency_across(*topology) : Time();
  for (ReplayJob& job : jobs) {
    if (has_fluids && job.hosts.overhead == Time()) job.hosts.collectives.allow_bundles(rank_gbs, latency);
    for (const auto& [what, count] : simplified(job)) {
      warnings.push_back(
          fmt::format("job {}: {}, in {} collective{}, for speed; "
                      "collectives.profile=nccl:...,bundle=1 keeps them apart",
                      job.name, what, count, count == 1 ? "" : "s"));
    }
  }
}

}  // namespace weft::sim
