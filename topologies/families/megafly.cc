#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/groups.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostMegaflyPorts = 45;  // 45⁴ + 45² hosts are just below kMostHosts
constexpr std::uint32_t kMostMegaflyLinks = 64;

const ModuleInfo& megafly_info() {
  static const ModuleInfo info = {
      .name = "megafly",
      .summary =
          "Megafly or Dragonfly+: groups that are two-level trees, linked among each other by their spines.",
      .source =
          "A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni, E. Zahavi, Dragonfly+: low cost topology "
          "for scaling datacenters, HiPINEB 2017",
      .parameters = with_cabling({
          {"p", ParameterType::kInteger, "", "Leaves, and as many spines, in each group: 1 to 45."},
          {"g", ParameterType::kInteger, "1",
           "Links between every two groups, a divisor of p·h: there are p·h/g + 1 groups."},
          {"h", ParameterType::kInteger, "auto", "Links of each spine to other groups: 1 to 64; auto: p."},
          {"hosts", ParameterType::kInteger, "auto", "Hosts on each leaf: 1 to 64; auto: p."},
      }),
  };
  return info;
}

Topology build_megafly(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t p = count_parameter(parameters, "p", kMostMegaflyPorts);
  const std::uint32_t h = count_parameter(parameters, "h", kMostMegaflyLinks, p), ports = p * h;
  const std::uint32_t hosts = count_parameter(parameters, "hosts", kMostMegaflyLinks, p);
  const std::uint32_t per_pair = count_parameter(parameters, "g", ports);
  if (ports % per_pair != 0) {
    std::uint32_t below = per_pair, above = per_pair;
    while (ports % below != 0) --below;
    while (ports % above != 0) ++above;
    parameters.fail("g",
                    fmt::format("it must divide p·h = {}; the nearest are {} and {}", ports, below, above));
  }
  const std::uint32_t groups = ports / per_pair + 1;
  if (std::uint64_t{groups} * p * hosts > kMostHosts) {
    parameters.fail("hosts", fmt::format("there are more than {} hosts then", kMostHosts));
  }

  Topology topology(to_short_form(megafly_info().name, parameters));
  std::vector<Vertex> leaf(groups * p), spine(groups * p);
  for (std::uint32_t i = 0; i < groups * p; ++i) {
    leaf[i] = topology.add_switch(fmt::format("leaf {}.{}", i / p, i % p), 1, i / p, cabling.switch_latency);
    add_hosts(topology, leaf[i], hosts, cabling.host);
  }
  for (std::uint32_t i = 0; i < groups * p; ++i) {
    spine[i] =
        topology.add_switch(fmt::format("spine {}.{}", i / p, i % p), 2, i / p, cabling.switch_latency);
  }
  for (std::uint32_t i = 0; i < groups * p; ++i) {
    for (std::uint32_t j = 0; j < p; ++j) topology.add_link(leaf[i], spine[i / p * p + j], cabling.fabric);
  }
  // Spine i has the group's global ports i·h … (i + 1)·h - 1; those to one group stand side by side.
  for (std::uint32_t a = 0; a < groups; ++a) {
    for (std::uint32_t b = a + 1; b < groups; ++b) {
      for (std::uint32_t i = 0; i < per_pair; ++i) {
        const std::uint32_t port_a = (b - 1) * per_pair + i, port_b = a * per_pair + i;
        topology.add_link(spine[a * p + port_a / h], spine[b * p + port_b / h], cabling.fabric);
      }
    }
  }
  topology.set_linked_groups();
  topology.finish();
  return topology;
}

SizeParameters size_megafly(std::uint64_t endpoints) {
  const std::uint32_t p = least_size("megafly", endpoints, 1, kMostMegaflyPorts, 1, [](std::uint32_t ports) {
    const std::uint64_t square = std::uint64_t{ports} * ports;
    return square * (square + 1);
  });
  return {{"p", std::to_string(p)}};
}

}  // namespace

Family megafly() { return {megafly_info(), build_megafly, size_megafly}; }

}  // namespace weft::topologies
