#include "topologies/families.h"

#include "topologies/families/fat_tree.h"
#include "topologies/families/hypercube.h"
#include "topologies/families/hyperx.h"
#include "topologies/families/leaf_spine.h"
#include "topologies/families/mesh.h"
#include "topologies/families/single_switch.h"
#include "topologies/families/torus.h"

namespace weft::topologies {

std::span<const Family> families() {
  static const Family list[] = {
      single_switch(), leaf_spine(), fat_tree(), torus(), mesh(), hypercube(), hyperx(),
  };
  return list;
}

Topology build(const ModuleChoice& choice) {
  const Family& family = find_module(families(), choice, "topology");
  return family.build(Parameters(family.info, choice));
}

}  // namespace weft::topologies
