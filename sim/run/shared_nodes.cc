#include "sim/run/shared_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "sim/run/nic_use.h"

namespace weft::sim {
namespace {

// Do the accelerators of some node have NICs to different switches, so that it matters over which of them a
// message leaves?
bool has_rails(const topologies::Topology& topology) {
  return std::ranges::any_of(nics_of_domains(topology), [&](const auto& each) {
    const std::vector<std::uint32_t>& nics = each.second;
    return std::ranges::any_of(nics, [&](std::uint32_t c) {
      return topology.channels()[c].to != topology.channels()[nics.front()].to;
    });
  });
}

// How many jobs leave nodes that they share with other jobs.
std::size_t jobs_on_shared_nodes(const topologies::Topology& topology, std::span<const ReplayJob> jobs) {
  std::vector<std::set<std::uint32_t>> nodes;  // by job: those whose accelerators may relay
  std::map<std::uint32_t, std::uint32_t> users;
  for (const ReplayJob& job : jobs) {
    std::set<std::uint32_t>& own = nodes.emplace_back();
    for (const std::uint32_t host : job.host_of_rank) {
      const topologies::Node& node = topology.node(topology.host(host));
      if (node.domain != topologies::kNoDomain && node.relays) own.insert(node.domain);
    }
    for (const std::uint32_t node : own) ++users[node];
  }
  return static_cast<std::size_t>(std::ranges::count_if(nodes, [&](const std::set<std::uint32_t>& own) {
    return own.size() > 1 && std::ranges::any_of(own, [&](std::uint32_t node) { return users.at(node) > 1; });
  }));
}

topologies::Topology without_relays(topologies::Topology topology) {
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const std::uint32_t domain = topology.node(v).domain;
    if (domain != topologies::kNoDomain) topology.set_domain(v, domain, false);
  }
  return topology;
}

}  // namespace

NetworkOfSharers::NetworkOfSharers(const topologies::Topology& all)
    : topology(without_relays(all)), table(topology) {}

std::unique_ptr<const NetworkOfSharers> network_of_sharers(const topologies::Topology* topology,
                                                           std::span<const ReplayJob> jobs,
                                                           std::vector<std::string>& warnings) {
  if (topology == nullptr || !topology->has_domains() || jobs.size() < 2 || !has_rails(*topology))
    return nullptr;
  const std::size_t several = jobs_on_shared_nodes(*topology, jobs);
  if (several == 0) return nullptr;
  warnings.push_back(fmt::format(
      "{} job{} on several nodes share{} nodes with other jobs, so messages of all leave by their own "
      "accelerator's NIC, as with relay=false: NCCL's PXN relays over GPUs of the job itself alone",
      several, several == 1 ? "" : "s", several == 1 ? "s" : ""));
  return std::make_unique<const NetworkOfSharers>(*topology);
}

}  // namespace weft::sim
