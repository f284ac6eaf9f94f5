#include "sim/nic_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "sim/units/grouped.h"

namespace weft::sim {
namespace {

bool carried(const results::Report& report, std::uint32_t channel) {
  return report.links[channel].bytes > 0 || report.links[channel ^ 1].bytes > 0;
}

// NICs that did nothing beside an equally fast one that did something.
std::uint32_t count_idle(const topologies::Topology& topology, std::span<const std::uint32_t> nics,
                         const results::Report& report) {
  const auto rate = [&](std::uint32_t c) { return topology.channels()[c].rate; };
  return static_cast<std::uint32_t>(std::ranges::count_if(nics, [&](std::uint32_t idle) {
    return !carried(report, idle) && std::ranges::any_of(nics, [&](std::uint32_t c) {
      return carried(report, c) && rate(c) == rate(idle);
    });
  }));
}

// Of each host; of a machine of several accelerators the links that leave it, all together.
std::vector<std::vector<std::uint32_t>> nics_of_hosts(const topologies::Topology& topology) {
  std::vector<std::vector<std::uint32_t>> all;
  std::map<std::uint32_t, std::size_t> place_of_domain;
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const topologies::Node& node = topology.node(v);
    const bool in_domain = node.domain != topologies::kNoDomain;
    if (!in_domain && node.kind != topologies::NodeKind::kHost) continue;
    const std::size_t place =
        in_domain ? place_of_domain.try_emplace(node.domain, all.size()).first->second : all.size();
    if (place == all.size()) all.emplace_back();
    for (const std::uint32_t c : topology.out_channels(v)) {
      if (!topology.is_inside(v, topology.channels()[c].to)) all[place].push_back(c);
    }
  }
  return all;
}

}  // namespace

void tell_nics_used(const topologies::Topology& topology, const std::string& choice,
                    results::Report& report) {
  if (report.links.size() != topology.channels().size()) return;
  std::map<std::uint32_t, results::NicUse> classes;
  std::uint64_t idle = 0, all = 0;
  for (const std::vector<std::uint32_t>& nics : nics_of_hosts(topology)) {
    if (nics.empty()) continue;  // a machine alone
    const auto count = static_cast<std::uint32_t>(nics.size());
    results::NicUse& use = classes[count];
    use.nics = count;
    const auto used = static_cast<std::uint32_t>(
        std::ranges::count_if(nics, [&](std::uint32_t c) { return carried(report, c); }));
    if (used == 0) continue;
    use.least = use.hosts == 0 ? used : std::min(use.least, used);
    use.most = std::max(use.most, used);
    use.mean += used;
    ++use.hosts;
    all += count;
    idle += count_idle(topology, nics, report);
  }
  for (auto& [nics, use] : classes) {
    use.mean /= std::max(use.hosts, 1u);
    report.nics_used.push_back(use);
  }
  if (idle == 0) return;
  report.warnings.push_back(
      fmt::format("{} of the {} NICs of hosts that sent or received carried nothing, beside others as fast "
                  "that did ({}): "
                  "more ranks a host use more of its NICs, as do nic_choice=round_robin and spray",
                  grouped(static_cast<double>(idle)), grouped(static_cast<double>(all)), choice));
}

}  // namespace weft::sim
