#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& torus_info() {
  static const ModuleInfo info = {
      .name = "torus",
      .summary = "Grid of routers with wrap-around links: every line of every dimension is a ring.",
      .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
      .parameters = with_hosts(dims_parameter()),
  };
  return info;
}

Topology build_torus(const Parameters& parameters) {
  return build_lattice(torus_info().name, parameters, read_dims(parameters), ring_links);
}

SizeParameters size_torus(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("torus", endpoints, kMostHosts);
  return {{"dims", dims_text(near_cube(endpoints, 3))}};
}

}  // namespace

Family torus() { return {torus_info(), build_torus, size_torus}; }

}  // namespace weft::topologies
