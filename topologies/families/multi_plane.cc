#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostPlanes = 64, kMostMultiPlanePorts = 2048;

const ModuleInfo& multi_plane_info() {
  static const ModuleInfo info = {
      .name = "multi_plane",
      .summary =
          "Planes of two-level fat trees without links between them; NIC i of every host is in plane i.",
      .source =
          "C. Zhao et al., Insights into DeepSeek-V3: scaling challenges and reflections on hardware for AI "
          "architectures, ISCA 2025",
      .parameters = with_cabling({
          {"k", ParameterType::kInteger, "", "Ports of a switch: even, 2 to 2048; k²/2 hosts."},
          {"planes", ParameterType::kInteger, "8", "Number of planes, and of NICs of a host."},
      }),
  };
  return info;
}

Topology build_multi_plane(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t k = even_ports(parameters, "k", kMostMultiPlanePorts), half = k / 2;
  const auto most = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kMostPlanes, 4 * kMostHosts / (std::uint64_t{k} * half)));
  const std::uint32_t planes = count_parameter(parameters, "planes", most);

  Topology topology(to_short_form(multi_plane_info().name, parameters));
  std::vector<Vertex> host(k * half);
  for (std::uint32_t h = 0; h < host.size(); ++h)
    host[h] = topology.add_host(fmt::format("host {}", h), h / half);
  std::vector<std::vector<Vertex>> leaves(planes);
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    for (std::uint32_t l = 0; l < k; ++l) {
      leaves[plane].push_back(topology.add_switch(fmt::format("leaf {}.{}", plane, l), 1, l,
                                                  cabling.switch_latency, static_cast<std::uint16_t>(plane)));
      for (std::uint32_t i = 0; i < half; ++i) {
        topology.add_link(host[l * half + i], leaves[plane][l], cabling.host);
      }
    }
  }
  for (std::uint16_t plane = 0; plane < planes; ++plane) {
    add_plane_top(topology, {"spine", plane, half, k + plane, half}, leaves[plane], cabling);
  }
  topology.finish();
  return topology;
}

SizeParameters size_multi_plane(std::uint64_t endpoints) {
  const std::uint32_t k = least_size("multi_plane", endpoints, 2, kMostMultiPlanePorts, 2,
                                     [](std::uint32_t ports) { return std::uint64_t{ports} * ports / 2; });
  return {{"k", std::to_string(k)}};
}

}  // namespace

Family multi_plane() { return {multi_plane_info(), build_multi_plane, size_multi_plane}; }

}  // namespace weft::topologies
