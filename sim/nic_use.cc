#include "sim/nic_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>

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

}  // namespace

void tell_nics_used(const topologies::Topology& topology, const std::string& choice,
                    results::Report& report) {
  if (report.links.size() != topology.channels().size()) return;
  std::map<std::uint32_t, results::NicUse> classes;
  std::uint64_t idle = 0, all = 0;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const auto nics = topology.out_channels(topology.host(host));
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
  if (classes.empty() || classes.rbegin()->first < 2) return;
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
