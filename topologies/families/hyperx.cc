#include <fmt/format.h>

#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& info() {
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

constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 25;

// Unlike in its relatives, the links outnumber the routers by far.
void check_links(const Parameters& parameters, const std::vector<std::uint32_t>& dims) {
  std::uint64_t routers = 1, degree = 0;
  for (const std::uint32_t size : dims) {
    routers *= size;
    degree += size - 1;
  }
  if (routers * degree / 2 > kMostLinks) {
    parameters.fail(
        "dims", fmt::format("that makes {} links; at most {} can be had", routers * degree / 2, kMostLinks));
  }
}

Topology build(const Parameters& parameters) {
  const std::vector<std::uint32_t> dims = read_dims(parameters);
  check_links(parameters, dims);
  return build_lattice(info().name, parameters, dims, complete_links);
}

SizeParameters size_for(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("hyperx", endpoints, kMostHosts);
  return {{"dims", dims_text(near_cube(endpoints, 2))}};
}

}  // namespace

Family hyperx() { return {info(), build, size_for}; }

}  // namespace weft::topologies
