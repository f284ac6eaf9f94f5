#include "sim/run/nic_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "sim/units/grouped.h"

namespace weft::sim {
namespace {

bool carried(const results::Report& report, std::uint32_t channel) {
  return report.links[channel].bytes > 0 || report.links[channel ^ 1].bytes > 0;
}

// NICs that did nothing beside one that did something: an equally fast one, or else a faster one. Those
// slower than a quarter of it UCX leaves out, too (src/ucp/wireup/select.c).
struct Idle {
  std::uint32_t as_fast = 0, slower = 0;
};
Idle count_idle(const topologies::Topology& topology, std::span<const std::uint32_t> nics,
                const results::Report& report) {
  const auto rate = [&](std::uint32_t c) { return topology.channels()[c].rate; };
  Idle all;
  for (const std::uint32_t idle : nics) {
    if (carried(report, idle)) continue;
    const auto beside = [&](auto fits) {
      return std::ranges::any_of(
          nics, [&](std::uint32_t c) { return carried(report, c) && fits(rate(c), rate(idle)); });
    };
    if (beside(std::equal_to())) {
      ++all.as_fast;
    } else if (beside([](Bandwidth used, Bandwidth unused) {
                 return used > unused && used.bps() / 4 <= unused.bps();
               })) {
      ++all.slower;
    }
  }
  return all;
}

// How many NICs hosts with so many have used.
class Uses {
 public:
  Uses(const topologies::Topology& topology, const results::Report& report)
      : topology_(topology), report_(report) {}

  void add_host(std::span<const std::uint32_t> nics) {
    const auto count = static_cast<std::uint32_t>(nics.size());
    if (count == 0) return;  // a machine alone
    results::NicUse& use = classes_[count];
    use.nics = count;
    const auto used = static_cast<std::uint32_t>(
        std::ranges::count_if(nics, [&](std::uint32_t c) { return carried(report_, c); }));
    if (used == 0) return;
    use.least = use.hosts == 0 ? used : std::min(use.least, used);
    use.most = std::max(use.most, used);
    use.mean += used;
    ++use.hosts;
    all_ += count;
    const Idle idle = count_idle(topology_, nics, report_);
    idle_ += idle.as_fast;
    slower_ += idle.slower;
  }

  std::uint64_t idle() const { return idle_; }
  std::uint64_t slower() const { return slower_; }
  std::uint64_t all() const { return all_; }
  std::vector<results::NicUse> take() const {
    std::vector<results::NicUse> uses;
    for (const auto& [nics, use] : classes_) {
      uses.push_back(use);
      uses.back().mean /= std::max(use.hosts, 1u);
    }
    return uses;
  }

 private:
  const topologies::Topology& topology_;
  const results::Report& report_;
  std::map<std::uint32_t, results::NicUse> classes_;
  std::uint64_t idle_ = 0, slower_ = 0, all_ = 0;
};

}  // namespace

std::map<std::uint32_t, std::vector<std::uint32_t>> nics_of_domains(const topologies::Topology& topology) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> all;
  for (topologies::Vertex v = 0; topology.has_domains() && v < topology.nodes(); ++v) {
    if (topology.node(v).domain == topologies::kNoDomain) continue;
    for (const std::uint32_t c : topology.out_channels(v)) {
      if (!topology.is_inside(v, topology.channels()[c].to)) all[topology.node(v).domain].push_back(c);
    }
  }
  return all;
}

void tell_nics_used(const topologies::Topology& topology, const std::string& choice,
                    results::Report& report) {
  if (report.links.size() != topology.channels().size()) return;
  Uses uses(topology, report);
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const topologies::Vertex v = topology.host(host);
    if (topology.node(v).domain == topologies::kNoDomain) uses.add_host(topology.out_channels(v));
  }
  for (const auto& [domain, nics] : nics_of_domains(topology)) uses.add_host(nics);
  report.nics_used = uses.take();
  if (uses.slower() > 0) {
    report.warnings.push_back(fmt::format(
        "{} of the {} NICs of hosts that sent or received carried nothing, beside faster ones that did ({}): "
        "ranks take the fastest of a host alone, where UCX would give slower ones their part",
        grouped(static_cast<double>(uses.slower())), grouped(static_cast<double>(uses.all())), choice));
  }
  if (uses.idle() == 0) return;
  report.warnings.push_back(fmt::format(
      "{} of the {} NICs of hosts that sent or received carried nothing, beside others as fast "
      "that did ({}): "
      "more ranks a host use more of its NICs, as do nic_choice=all, round_robin and spray",
      grouped(static_cast<double>(uses.idle())), grouped(static_cast<double>(uses.all())), choice));
}

}  // namespace weft::sim
