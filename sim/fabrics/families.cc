#include "sim/fabrics/built_in.h"

namespace weft::fabrics {

const std::vector<std::string>& tree_families() {
  static const std::vector<std::string> families = {"single_switch", "leaf_spine",     "fat_tree2",
                                                    "fat_tree",      "k_ary_n_tree",   "xgft",
                                                    "multi_plane",   "rail_optimized", "hpn"};
  return families;
}

const std::vector<std::string>& dragonfly_families() {
  static const std::vector<std::string> families = {
      "dragonfly", "megafly", "cascade", "leonardo", "leonardo_booster", "leonardo_dcgp",
      "lumi_c",    "lumi_g",  "alps",    "frontier", "jupiter"};
  return families;
}

const std::vector<std::string>& grid_families() {
  static const std::vector<std::string> families = {"torus", "mesh",      "hypercube",
                                                    "tofu",  "tpu_torus", "fugaku"};
  return families;
}

}  // namespace weft::fabrics
