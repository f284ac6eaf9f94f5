#include "sim/run/bundling.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "goal/collectives/selection.h"

namespace weft::sim {

namespace {

// "4 of 16 channels of nccl_nvls_tree" → in how many collectives.
std::map<std::string, std::uint64_t> bundles_of(const ReplayJob& job) {
  std::map<std::string, std::uint64_t> bundles;
  const goal::ProgramFacts& facts = job.program.facts();
  for (const goal::Collective& collective : facts.collectives) {
    const std::uint32_t ranks = facts.communicator_size(collective.comm);
    if (ranks < 2) continue;
    const goal::ChosenAlgorithm& chosen = job.hosts.collectives.choose(collective, ranks);
    const std::uint32_t bundle = chosen.options.bundle;
    if (bundle == 1) continue;
    ++bundles[fmt::format("{} of {} channels of {}", bundle, bundle * chosen.options.channels,
                          chosen.algorithm->info.name)];
  }
  return bundles;
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

}  // namespace

void bundle_channels(bool has_fluids, const topologies::Topology* topology, std::vector<ReplayJob>& jobs,
                     std::vector<std::string>& warnings) {
  const double rank_gbs = topology == nullptr ? 0 : links_of_hosts(*topology);
  for (ReplayJob& job : jobs) {
    if (has_fluids && job.hosts.overhead == Time()) job.hosts.collectives.allow_bundles(rank_gbs);
    for (const auto& [what, count] : bundles_of(job)) {
      warnings.push_back(
          fmt::format("job {}: {} go as one message, in {} collective{}, for speed; "
                      "collectives.profile=nccl:...,bundle=1 keeps them apart",
                      job.name, what, count, count == 1 ? "" : "s"));
    }
  }
}

}  // namespace weft::sim
