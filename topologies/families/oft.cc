#include <fmt/core.h>

#include "topologies/families/algebraic.h"
#include "topologies/families/algebraic_graphs.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& oft_info() {
  static const ModuleInfo info = {
      .name = "oft",
      .summary =
          "Two-level orthogonal fat tree: 2k³ - 2k² + 2k hosts on routers of 2k ports, two links apart.",
      .source =
          "M. Valerio, L. E. Moser, P. M. Melliar-Smith, Recursively scalable fat-trees as interconnection "
          "networks, IPCCC 1994; G. Kathareios, C. Minkenberg, B. Prisacari, G. Rodriguez, T. Hoefler, "
          "Cost-effective diameter-two topologies: analysis and evaluation, SC 2015",
      .parameters = with_router_hosts(
          {{"k", ParameterType::kInteger, "", "Links up from a router with hosts: a prime power plus 1."}},
          "k"),
  };
  return info;
}

std::uint64_t oft_endpoints(std::uint32_t k) { return std::uint64_t{2} * ProjectivePlane::points(k - 1) * k; }
std::vector<std::uint32_t> oft_possible() {
  std::vector<std::uint32_t> sizes = prime_powers(2, 256);
  for (std::uint32_t& size : sizes) ++size;
  return within_limit(sizes, oft_endpoints);
}

Topology build_oft(const Parameters& parameters) {
  const std::uint32_t k = read_possible(parameters, "k", oft_possible(), "a prime power plus 1,");
  const std::uint32_t lines = ProjectivePlane::points(k - 1);
  RouterNetwork network;
  for (const std::uint32_t level : {0, 2, 1}) {
    for (std::uint32_t i = 0; i < lines; ++i) {
      const bool point = level == 1;
      network.routers.push_back({.name = fmt::format("router {}.{}", level, i),
                                 .group = point ? lines + i : i,
                                 .tier = static_cast<std::uint8_t>(point ? 2 : 1)});
    }
  }
  const GaloisField field(k - 1);
  const ProjectivePlane plane(field);
  for (std::uint32_t router = 0; router < 2 * lines; ++router) {
    for (const std::uint32_t point : plane.on_line(router % lines)) {
      network.links.emplace_back(router, 2 * lines + point);
    }
  }
  return build_routers(oft_info().name, parameters, network, k);
}

SizeParameters size_oft(std::uint64_t wanted) {
  return {{"k", std::to_string(least_size(oft_info().name, wanted, oft_possible(), oft_endpoints))}};
}

}  // namespace

Family oft() { return {oft_info(), build_oft, size_oft}; }

}  // namespace weft::topologies
