#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& express_mesh_info() {
  static const ModuleInfo info = [] {
    ModuleInfo mesh = {
        .name = "express_mesh",
        .summary = "Mesh with express links along its lines, to every gap-th router after the next.",
        .source =
            "W. J. Dally, Express cubes: improving the performance of k-ary n-cube interconnection networks, "
            "IEEE Transactions on Computers 40(9), 1991; link offsets as in M. Besta et al., EvalNet, IPDPS "
            "2026",
        .parameters = with_hosts(dims_parameter()),
    };
    mesh.parameters.insert(mesh.parameters.begin() + 1,
                           {"gap", ParameterType::kInteger, "2",
                            "Routers of a line are linked at distances 1, 1 + gap, 1 + 2·gap and so on."});
    return mesh;
  }();
  return info;
}

constexpr std::uint64_t kMostExpressMeshLinks = std::uint64_t{1} << 25;

Topology build_express_mesh(const Parameters& parameters) {
  const std::vector<std::uint32_t> dims = read_dims(parameters);
  const std::uint32_t gap = count_parameter(parameters, "gap", 1 << 20);
  std::uint64_t routers = 1, degree = 0;
  for (const std::uint32_t size : dims) {
    routers *= size;
    degree += 1 + size / gap;
  }
  if (routers * degree > kMostExpressMeshLinks)
    parameters.fail("dims", "that makes too many links; 33554432 can be had");
  return build_lattice(express_mesh_info().name, parameters, dims, [gap](std::uint32_t size) {
    LineLinks links;
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t j = i + 1; j < size; j += gap) links.emplace_back(i, j);
    }
    return links;
  });
}

SizeParameters size_express_mesh(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("express_mesh", endpoints, kMostHosts);
  return {{"dims", dims_text(near_cube(endpoints, 2))}};
}

}  // namespace

Family express_mesh() { return {express_mesh_info(), build_express_mesh, size_express_mesh}; }

}  // namespace weft::topologies
