#include "topologies/families/trees.h"

namespace weft::topologies {

std::vector<Family> tree_families() {
  return {single_switch(), leaf_spine(),  fat_tree2(),      fat_tree(), k_ary_n_tree(),
          xgft(),          multi_plane(), rail_optimized(), hpn()};
}

}  // namespace weft::topologies
