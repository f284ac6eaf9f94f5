#include "topologies/recommended_routing.h"

#include <algorithm>
#include <array>

namespace weft::topologies {
namespace {

struct Entry {
  std::string_view family;
  RecommendedRouting routing;
};

constexpr const char* kDragonfly =
    "J. Kim, W. J. Dally, S. Scott, D. Abts, ISCA 2008 (UGAL); N. Jiang, J. Kim, W. J. Dally, ISCA 2009 (as "
    "the first switch doesn't see the links between groups, packets may decide again)";
constexpr const char* kSlimFly = "M. Besta, T. Hoefler, SC 2014 (UGAL)";
constexpr const char* kStars = "K. Lakhotia et al., PolarFly, SC 2022, and PolarStar, SPAA 2024 (UGAL)";
constexpr const char* kDiameterTwo = "G. Kathareios et al., SC 2015 (indirect and adaptive routing)";
constexpr const char* kFlattened = "J. Kim, W. J. Dally, D. Abts, ISCA 2007 (UGAL)";
constexpr const char* kInfiniBand =
    "NVIDIA, adaptive routing of Quantum switches: AR_UPDN for fat trees, and for Dragonfly+ A. Shpiner et "
    "al., "
    "HiPINEB 2017 (fully progressive adaptive routing)";
constexpr const char* kSlingshot =
    "D. De Sensi et al., An in-depth analysis of the Slingshot interconnect, SC 2020";
constexpr const char* kTrees =
    "C. Hopps, RFC 2992 (ECMP); M. Al-Fares, A. Loukissas, A. Vahdat, A scalable, commodity data center "
    "network "
    "architecture, SIGCOMM 2008";
constexpr const char* kGrids = "W. J. Dally, C. L. Seitz, IEEE Trans. Computers C-36(5), 1987";

constexpr auto kEntries = std::to_array<Entry>({
    {"fat_tree", {"ecmp", kTrees}},
    {"fat_tree2", {"ecmp", kTrees}},
    {"k_ary_n_tree", {"ecmp", kTrees}},
    {"xgft", {"ecmp", kTrees}},
    {"leaf_spine", {"ecmp", kTrees}},
    {"rail_optimized", {"ecmp", kTrees}},
    {"jellyfish",
     {"k_shortest", "A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, NSDI 2012 (8 shortest paths)"}},
    {"xpander", {"k_shortest", "A. Valadarsky, G. Shahaf, M. Dinitz, M. Schapira, CoNEXT 2016"}},
    {"dragonfly", {"par", kDragonfly}},
    {"megafly", {"par", kDragonfly}},
    {"cascade", {"par", kDragonfly}},
    {"slim_fly", {"ugal", kSlimFly}},
    {"polarfly", {"ugal", kStars}},
    {"polarstar", {"ugal", kStars}},
    {"bundlefly", {"ugal", "F. Lei et al., BundleFly, ICS 2020 (UGAL)"}},
    {"spectralfly", {"ugal", "S. Young et al., SpectralFly, IPDPS 2022 (UGAL)"}},
    {"oft", {"ugal", kDiameterTwo}},
    {"mlfm", {"ugal", kDiameterTwo}},
    {"hammingmesh", {"hammingmesh", "T. Hoefler et al., HammingMesh, SC 2022"}},
    {"hyperx", {"ugal", "J. H. Ahn et al., HyperX, SC 2009 (adaptive, non-minimal)"}},
    {"flattened_butterfly", {"ugal", kFlattened}},
    {"torus", {"dimension_order", kGrids}},
    {"mesh", {"dimension_order", kGrids}},
    {"hypercube", {"dimension_order", kGrids}},
    {"tofu", {"dimension_order", kGrids}},
    {"tpu_torus", {"dimension_order", kGrids}},
    {"leonardo", {"par", kInfiniBand}},
    {"leonardo_booster", {"par", kInfiniBand}},
    {"leonardo_dcgp", {"par", kInfiniBand}},
    {"lumi_c", {"slingshot", kSlingshot}},
    {"lumi_g", {"slingshot", kSlingshot}},
    {"alps", {"slingshot", kSlingshot}},
    {"frontier", {"slingshot", kSlingshot}},
    {"marenostrum5_gpp", {"minimal_adaptive", kInfiniBand}},
    {"marenostrum5_acc", {"minimal_adaptive", kInfiniBand}},
    {"jupiter", {"par", kInfiniBand}},
    {"fugaku", {"dimension_order", kGrids}},
});

}  // namespace

RecommendedRouting recommended_routing(std::string_view family) {
  const auto* found = std::ranges::find(kEntries, family, &Entry::family);
  return found == kEntries.end() ? RecommendedRouting() : found->routing;
}

}  // namespace weft::topologies
