#include <fmt/core.h>

#include <array>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kPlanes = 2;
constexpr std::uint32_t kMostNodes = 1024, kMostRails = 16, kMostSegments = 1024, kMostSwitches = 1024;

const ModuleInfo& hpn_info() {
  static const ModuleInfo info = {
      .name = "hpn",
      .summary = "A pod of Alibaba HPN: rail-optimized, each NIC with a port on two leaves in two planes.",
      .source =
          "K. Qian et al., Alibaba HPN: a data center network for large language model training, SIGCOMM "
          "2024",
      .parameters = with_cabling(
          {
              {"segments", ParameterType::kInteger, "", "Segments of the pod; 15 in the paper."},
              {"nodes", ParameterType::kInteger, "128", "Hosts of a segment."},
              {"rails", ParameterType::kInteger, "8", "NICs of a host, each with a port in both planes."},
              {"aggs", ParameterType::kInteger, "60",
               "Aggregation switches of a plane, and links up of a leaf."},
          },
          {.host_link = "200Gbps"}),
  };
  return info;
}

Topology build_hpn(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t segments = count_parameter(parameters, "segments", kMostSegments);
  const std::uint32_t nodes = count_parameter(parameters, "nodes", kMostNodes);
  const std::uint32_t rails = count_parameter(parameters, "rails", kMostRails);
  const std::uint32_t aggs = count_parameter(parameters, "aggs", kMostSwitches);

  Topology topology(to_short_form(hpn_info().name, parameters));
  std::array<std::vector<Vertex>, kPlanes> leaves;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    for (std::uint32_t r = 0; r < rails; ++r) {
      for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
        leaves[plane].push_back(topology.add_switch(fmt::format("leaf {}.{}.{}", segment, r, plane), 1,
                                                    segment, cabling.switch_latency,
                                                    static_cast<std::uint16_t>(plane)));
      }
    }
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const Vertex host = topology.add_host(fmt::format("host {}", topology.hosts()), segment);
      for (std::uint32_t r = 0; r < rails; ++r) {
        for (const auto& plane : leaves) topology.add_link(host, plane[segment * rails + r], cabling.host);
      }
    }
  }
  for (std::uint16_t plane = 0; plane < kPlanes; ++plane) {
    add_plane_top(topology, {"aggregation", plane, aggs, segments + plane, aggs}, leaves[plane], cabling);
  }
  topology.finish();
  return topology;
}

SizeParameters size_hpn(std::uint64_t endpoints) {
  const std::uint32_t segments = least_size("hpn", endpoints, 1, kMostSegments, 1,
                                            [](std::uint32_t count) { return std::uint64_t{count} * 128; });
  return {{"segments", std::to_string(segments)}};
}

}  // namespace

Family hpn() { return {hpn_info(), build_hpn, size_hpn}; }

}  // namespace weft::topologies
