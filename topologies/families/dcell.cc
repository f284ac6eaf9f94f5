#include <fmt/core.h>

#include <string>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/servers.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostDcellPorts = 2048;
constexpr std::uint32_t kMostDcellLevels = 4;  // even of 2-port switches, 5 levels have over 10^12 servers

const ModuleInfo& dcell_info() {
  static const ModuleInfo info = {
      .name = "dcell",
      .summary =
          "DCell(n, k): n servers on a switch, and servers linked to those of other cells, recursively.",
      .source =
          "C. Guo, H. Wu, K. Tan, L. Shi, Y. Zhang, S. Lu, DCell: a scalable and fault-tolerant network "
          "structure for data centers, SIGCOMM 2008",
      .parameters = with_forwarding_hosts({
          {"n", ParameterType::kInteger, "", "Servers on each switch, 2 to 2048."},
          {"k", ParameterType::kInteger, "", "Levels of cells above the switches: a server has k + 1 ports."},
      }),
  };
  return info;
}

// Servers in a cell of each level from 0 to k: t, then t(t + 1).
std::vector<std::uint64_t> cell_sizes(std::uint64_t n, std::uint32_t k) {
  std::vector<std::uint64_t> sizes = {n};
  while (sizes.size() <= k && sizes.back() <= kMostHosts) sizes.push_back(sizes.back() * (sizes.back() + 1));
  return sizes;
}

Topology build_dcell(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t n = count_parameter(parameters, "n", kMostDcellPorts);
  if (n < 2) parameters.fail("n", "it must be from 2 to 2048; the nearest is 2");
  const std::int64_t k = parameters.integer("k");
  if (k < 0 || k > kMostDcellLevels) {
    parameters.fail("k", fmt::format("it must be from 0 to {}; the nearest is {}", kMostDcellLevels,
                                     k < 0 ? 0 : kMostDcellLevels));
  }
  const std::vector<std::uint64_t> sizes = cell_sizes(n, static_cast<std::uint32_t>(k));
  if (sizes.back() > kMostHosts) {
    parameters.fail("k", fmt::format("that makes {}{} servers; there can be {}",
                                     sizes.size() <= static_cast<std::size_t>(k) ? "more than " : "",
                                     sizes.back(), kMostHosts));
  }
  const auto servers = static_cast<std::uint32_t>(sizes.back());
  const Link inside = link_inside_host(parameters, cabling, static_cast<std::uint32_t>(k + 1));

  Topology topology(to_short_form(dcell_info().name, parameters));
  std::vector<Vertex> server(servers);
  for (std::uint32_t s = 0; s < servers; ++s) {
    server[s] = topology.add_host_router(fmt::format("server {}", s), s / n);
    add_hosts(topology, server[s], 1, inside);
  }
  for (std::uint32_t s = 0; s < servers; ++s) {
    if (s % n == 0) topology.add_switch(fmt::format("switch {}", s / n), 2, s / n, cabling.switch_latency);
    topology.add_link(server[s], topology.switch_at(servers + s / n), cabling.fabric);
  }
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    const auto below = static_cast<std::uint32_t>(sizes[level - 1]);
    for (std::uint32_t cell = 0; cell < servers; cell += static_cast<std::uint32_t>(sizes[level])) {
      for (std::uint32_t i = 0; i < below; ++i) {
        for (std::uint32_t j = i + 1; j <= below; ++j) {
          topology.add_link(server[cell + i * below + j - 1], server[cell + j * below + i], cabling.fabric);
        }
      }
    }
  }
  topology.finish();
  return topology;
}

// The fewest levels with which switches of 64 ports are enough.
SizeParameters size_dcell(std::uint64_t endpoints) {
  std::uint32_t k = 1;
  while (k < 2 && cell_sizes(64, k).back() < endpoints) ++k;
  std::vector<std::uint32_t> possible;
  for (std::uint32_t n = 2; cell_sizes(n, k).back() <= kMostHosts && n <= 64; ++n) possible.push_back(n);
  const std::uint32_t n = least_size("dcell", endpoints, possible,
                                     [&](std::uint32_t ports) { return cell_sizes(ports, k).back(); });
  return {{"n", std::to_string(n)}, {"k", std::to_string(k)}};
}

}  // namespace

Family dcell() { return {dcell_info(), build_dcell, size_dcell}; }

}  // namespace weft::topologies
