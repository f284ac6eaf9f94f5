#include <fmt/core.h>

#include <string>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/servers.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostBcubePorts = 2048;
constexpr std::uint32_t kMostBcubeLevels = 21;

const ModuleInfo& bcube_info() {
  static const ModuleInfo info = {
      .name = "bcube",
      .summary = "BCube(n, k): n^(k+1) servers that forward, k + 1 levels of n-port switches between them.",
      .source =
          "C. Guo et al., BCube: a high performance, server-centric network architecture for modular data "
          "centers, SIGCOMM 2009",
      .parameters = with_forwarding_hosts({
          {"n", ParameterType::kInteger, "", "Ports of a switch, 2 to 2048."},
          {"k", ParameterType::kInteger, "",
           "Levels of switches beside the first: a server has k + 1 ports."},
      }),
  };
  return info;
}

// n^exponent, or more than kMostHosts if it is more.
std::uint64_t power(std::uint64_t n, std::uint32_t exponent) {
  std::uint64_t result = 1;
  for (std::uint32_t i = 0; i < exponent && result <= kMostHosts; ++i) result *= n;
  return result;
}

Topology build_bcube(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t n = count_parameter(parameters, "n", kMostBcubePorts);
  if (n < 2) parameters.fail("n", "it must be from 2 to 2048; the nearest is 2");
  const std::int64_t k = parameters.integer("k");
  if (k < 0 || k >= kMostBcubeLevels) {
    parameters.fail("k", fmt::format("it must be from 0 to {}; the nearest is {}", kMostBcubeLevels - 1,
                                     k < 0 ? 0 : kMostBcubeLevels - 1));
  }
  const auto levels = static_cast<std::uint32_t>(k + 1);
  if (power(n, levels) > kMostHosts) {
    parameters.fail("k", fmt::format("n^(k+1) must be at most {} servers", kMostHosts));
  }
  const auto servers = static_cast<std::uint32_t>(power(n, levels));
  const Link inside = link_inside_host(parameters, cabling, levels);

  Topology topology(to_short_form(bcube_info().name, parameters));
  std::vector<Vertex> server(servers);
  for (std::uint32_t s = 0; s < servers; ++s) {
    server[s] = topology.add_host_router(fmt::format("server {}", s), s / n);
    add_hosts(topology, server[s], 1, inside);
  }
  std::uint32_t step = 1;  // n^level: what digit `level` counts
  for (std::uint32_t level = 0; level < levels; ++level, step *= n) {
    for (std::uint32_t s = 0; s < servers / n; ++s) {
      const std::uint32_t first = s / step * (step * n) + s % step;
      const Vertex hub =
          topology.add_switch(fmt::format("switch {}.{}", level, s), static_cast<std::uint8_t>(2 + level),
                              first / n, cabling.switch_latency);
      for (std::uint32_t i = 0; i < n; ++i) topology.add_link(server[first + i * step], hub, cabling.fabric);
    }
  }
  topology.finish();
  return topology;
}

// The fewest levels with which switches of 64 ports are enough.
SizeParameters size_bcube(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("bcube", endpoints, kMostHosts);
  std::uint32_t levels = 2;
  while (power(64, levels) < endpoints) ++levels;
  const std::uint32_t n =
      least_size("bcube", endpoints, 2, 64, 1, [&](std::uint32_t ports) { return power(ports, levels); });
  return {{"n", std::to_string(n)}, {"k", std::to_string(levels - 1)}};
}

}  // namespace

Family bcube() { return {bcube_info(), build_bcube, size_bcube}; }

}  // namespace weft::topologies
