#include <fmt/core.h>

#include <string>
#include <vector>

#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& hyperx_info() {
  static const ModuleInfo info = {
      .name = "hyperx",
      .summary = "Grid of routers in which every router is linked to all others of its lines.",
      .source =
          "J. H. Ahn, N. Binkert, A. Davis, M. McLaren, R. S. Schreiber, HyperX: topology, routing, and "
          "packaging of efficient large-scale networks, SC 2009",
      .parameters = with_hosts(dims_parameter()),
  };
  return info;
}

constexpr std::uint64_t kMostHyperxLinks = std::uint64_t{1} << 25;

// Unlike in its relatives, the links outnumber the routers by far.
void check_links(const Parameters& parameters, const std::vector<std::uint32_t>& dims) {
  std::uint64_t routers = 1, degree = 0;
  for (const std::uint32_t size : dims) {
    routers *= size;
    degree += size - 1;
  }
  if (routers * degree / 2 > kMostHyperxLinks) {
    parameters.fail("dims", fmt::format("that makes {} links; at most {} can be had", routers * degree / 2,
                                        kMostHyperxLinks));
  }
}

Topology build_hyperx(const Parameters& parameters) {
  const std::vector<std::uint32_t> dims = read_dims(parameters);
  check_links(parameters, dims);
  return build_lattice(hyperx_info().name, parameters, dims, complete_links);
}

// Lines of S routers with S - 1 hosts on each router, as many as it has links in one dimension: in two
// dimensions while that takes 64 ports or fewer, else in three, then four.
SizeParameters size_hyperx(std::uint64_t endpoints) {
  constexpr std::uint32_t kMostHyperxPorts = 64, kMostDimensions = 4;
  for (std::uint32_t dimensions = 2;; ++dimensions) {
    const auto hosts_of = [](std::uint32_t size) { return size > 1 ? size - 1 : 1; };
    const std::uint32_t size = least_size("hyperx", endpoints, 1,
                                          dimensions == 2   ? 161
                                          : dimensions == 3 ? 45
                                                            : 21,
                                          1, [&](std::uint32_t routers) {
                                            std::uint64_t all = hosts_of(routers);
                                            for (std::uint32_t d = 0; d < dimensions; ++d) all *= routers;
                                            return all;
                                          });
    if ((dimensions + 1) * hosts_of(size) > kMostHyperxPorts && dimensions < kMostDimensions) continue;
    return {{"dims", dims_text(std::vector<std::uint32_t>(dimensions, size))},
            {"hosts", std::to_string(hosts_of(size))}};
  }
}

}  // namespace

Family hyperx() { return {hyperx_info(), build_hyperx, size_hyperx}; }

}  // namespace weft::topologies
