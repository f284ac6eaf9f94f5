#include "sim/run/one_nic.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "goal/collectives/selection.h"
#include "sim/run/nic_use.h"

namespace weft::sim {
namespace {

constexpr std::array<std::string_view, 3> kOneRing = {"ring", "segmented_ring", "pipelined_chain"};

class Rings {
 public:
  Rings(const topologies::Topology& topology, const ReplayJob& job)
      : topology_(topology), job_(job), nics_(nics_of_domains(topology)) {}

  // Does a ring of this group pass a node through fewer NICs than it has, and than the group has ranks there?
  bool leaves_by_few(std::uint32_t comm) const {
    const goal::ProgramFacts& facts = job_.program.facts();
    const std::uint32_t size = facts.communicator_size(comm);
    struct Pass {
      std::size_t ranks = 0, exits = 0;
    };
    std::map<std::uint32_t, Pass> passes;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t here = domain_of(facts.world_rank(comm, i));
      if (here == topologies::kNoDomain) return false;
      Pass& pass = passes[here];
      ++pass.ranks;
      if (domain_of(facts.world_rank(comm, (i + 1) % size)) != here) ++pass.exits;
    }
    return passes.size() > 1 && std::ranges::any_of(passes, [&](const auto& each) {
             const auto found = nics_.find(each.first);
             const std::size_t nics = found == nics_.end() ? 0 : found->second.size();
             return each.second.exits < std::min(each.second.ranks, nics);
           });
  }

  // How many collectives of the job do.
  std::uint64_t count() const {
    std::map<std::uint32_t, bool> known;
    std::uint64_t several = 0;
    for (const goal::Collective& collective : job_.program.facts().collectives) {
      const std::uint32_t ranks = job_.program.facts().communicator_size(collective.comm);
      if (ranks < 2) continue;
      const auto& name = job_.hosts.collectives.choose(collective, ranks).algorithm->info.name;
      if (std::ranges::find(kOneRing, name) == kOneRing.end()) continue;
      const auto [place, is_new] = known.try_emplace(collective.comm, false);
      if (is_new) place->second = leaves_by_few(collective.comm);
      if (place->second) ++several;
    }
    return several;
  }

 private:
  std::uint32_t domain_of(goal::Rank rank) const {
    const std::uint32_t host =
        job_.host_of_rank.empty() ? rank / job_.hosts.ranks_per_host : job_.host_of_rank[rank];
    return topology_.node(topology_.host(host)).domain;
  }

  const topologies::Topology& topology_;
  const ReplayJob& job_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> nics_;
};

}  // namespace

void tell_one_nic(const topologies::Topology* topology, std::span<const ReplayJob> jobs,
                  std::vector<std::string>& warnings) {
  if (topology == nullptr || !topology->has_domains()) return;
  for (const ReplayJob& job : jobs) {
    const std::uint64_t several = Rings(*topology, job).count();
    if (several == 0) continue;
    warnings.push_back(
        fmt::format("job {}: {} collective{} of groups with several ranks a node go around one ring, which "
                    "leaves a node through fewer NICs than it has; collectives.profile=nccl uses all",
                    job.name, several, several == 1 ? "" : "s"));
  }
}

}  // namespace weft::sim
