#include "sim/run/one_nic.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "goal/collectives/selection.h"
#include "sim/run/nic_use.h"

namespace weft::sim {
namespace {

constexpr std::array<std::string_view, 3> kOneRing = {"ring", "segmented_ring", "pipelined_chain"};

class Rings {
 public:
  Rings(const topologies::Topology& topology, const ReplayJob& job)
      : topology_(topology), job_(job), nics_(nics_of_domains(topology)) {}

  // How many collectives of the job go around one ring that passes a node through fewer NICs than it has, and
  // than the group has ranks there; and how many of NCCL's have rings that NCCL wouldn't have.
  struct Counts {
    std::uint64_t one_ring = 0, others = 0;
  };
  Counts count() const {
    std::map<std::pair<std::uint32_t, const goal::RankOrder*>, Group> known;
    Counts counts;
    for (const goal::Collective& collective : job_.program.facts().collectives) {
      const std::uint32_t ranks = job_.program.facts().communicator_size(collective.comm);
      if (ranks < 2) continue;
      const goal::ChosenAlgorithm& chosen = job_.hosts.collectives.choose(collective, ranks);
      const std::string& name = chosen.algorithm->info.name;
      const bool is_one_ring = std::ranges::find(kOneRing, name) != kOneRing.end();
      // Sends and receives in groups have no rings.
      const bool is_nccl = name.starts_with("nccl_") && name != "nccl_p2p";
      if (!is_one_ring && !is_nccl) continue;
      const goal::RankOrder* const order = chosen.options.order.get();
      const auto [place, is_new] = known.try_emplace({collective.comm, order});
      if (is_new) place->second = group_of(collective.comm, order);
      const Group& group = place->second;
      if (is_one_ring && leaves_by_few(group)) ++counts.one_ring;
      if (is_nccl && group.nodes.size() > 1 &&
          (group.comes_back || chosen.options.ranks_per_node < group.fewest_ranks())) {
        ++counts.others;
      }
    }
    return counts;
  }

 private:
  struct Pass {
    std::size_t ranks = 0, exits = 0;
  };
  // A group's ranks, in the order that rings go by, on nodes; none if some are outside.
  struct Group {
    std::map<std::uint32_t, Pass> nodes;
    bool comes_back = false;  // to a node that it had left before
    std::size_t fewest_ranks() const {
      return std::ranges::min_element(nodes, {}, [](const auto& each) { return each.second.ranks; })
          ->second.ranks;
    }
  };

  Group group_of(std::uint32_t comm, const goal::RankOrder* order) const {
    const goal::ProgramFacts& facts = job_.program.facts();
    const std::uint32_t size = facts.communicator_size(comm);
    const auto node_at = [&](std::uint32_t place) {
      return domain_of(facts.world_rank(comm, order == nullptr ? place : order->ranks[place]));
    };
    Group group;
    std::uint32_t before = topologies::kNoDomain;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t here = node_at(i);
      if (here == topologies::kNoDomain) return {};
      Pass& pass = group.nodes[here];
      group.comes_back |= pass.ranks > 0 && here != before;
      ++pass.ranks;
      if (node_at((i + 1) % size) != here) ++pass.exits;
      before = here;
    }
    return group;
  }

  bool leaves_by_few(const Group& group) const {
    return group.nodes.size() > 1 && std::ranges::any_of(group.nodes, [&](const auto& each) {
             const auto found = nics_.find(each.first);
             const std::size_t nics = found == nics_.end() ? 0 : found->second.size();
             return each.second.exits < std::min(each.second.ranks, nics);
           });
  }

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
    const auto [one_ring, others] = Rings(*topology, job).count();
    if (one_ring > 0) {
      warnings.push_back(
          fmt::format("job {}: {} collective{} of groups with several ranks a node go around one ring, which "
                      "leaves a node through fewer NICs than it has; collectives.profile=nccl uses all",
                      job.name, one_ring, one_ring == 1 ? "" : "s"));
    }
    if (others > 0) {
      warnings.push_back(fmt::format(
          "job {}: {} collective{} of groups on other nodes than NCCL's schedule is made for (those "
          "of the profile, or of the algorithm asked for): rings here come back to a node, or leave "
          "it through fewer NICs, where NCCL's own would not",
          job.name, others, others == 1 ? "" : "s"));
    }
  }
}

}  // namespace weft::sim
