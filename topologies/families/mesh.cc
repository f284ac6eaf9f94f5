#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& mesh_info() {
  static const ModuleInfo info = {
      .name = "mesh",
      .summary = "Grid of routers without wrap-around links.",
      .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
      .parameters = with_hosts(dims_parameter()),
  };
  return info;
}

Topology build_mesh(const Parameters& parameters) {
  return build_lattice(mesh_info().name, parameters, read_dims(parameters), path_links);
}

SizeParameters size_mesh(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("mesh", endpoints, kMostHosts);
  return {{"dims", dims_text(near_cube(endpoints, 2))}};
}

}  // namespace

Family mesh() { return {mesh_info(), build_mesh, size_mesh}; }

}  // namespace weft::topologies
