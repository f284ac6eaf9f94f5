#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"

namespace weft::topologies {
namespace {

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "torus",
      .summary = "Grid of routers with wrap-around links: every line of every dimension is a ring.",
      .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
      .parameters = with_hosts(dims_parameter()),
  };
  return info;
}

Topology build(const Parameters& parameters) {
  return build_lattice(info().name, parameters, read_dims(parameters), ring_links);
}

}  // namespace

Family torus() { return {info(), build}; }

}  // namespace weft::topologies
