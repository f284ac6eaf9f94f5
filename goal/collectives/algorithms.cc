#include "goal/collectives/algorithms.h"

#include <vector>

namespace weft::goal {
namespace {

constexpr const char* kThakur =
    "R. Thakur, R. Rabenseifner, W. Gropp, \"Optimization of Collective Communication Operations in MPICH\", "
    "IJHPCA 19(1), 2005";
constexpr const char* kHensgen =
    "D. Hensgen, R. Finkel, U. Manber, \"Two Algorithms for Barrier Synchronization\", IJPP 17(1), 1988";
constexpr const char* kPatarasuk =
    "P. Patarasuk, X. Yuan, \"Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations\", JPDC "
    "69(2), 2009";
constexpr const char* kHillis = "W. D. Hillis, G. L. Steele, \"Data Parallel Algorithms\", CACM 29(12), 1986";

const std::vector<CollectiveAlgorithm>& algorithms() {
  static const std::vector<CollectiveAlgorithm> kAll = {
      {{"dissemination", "In round k each rank signals the one 2^k places on.", kHensgen, {}},
       CollectiveKind::kBarrier,
       barrier_dissemination},
      {{"binomial_tree", "The root's data goes down a binomial tree, largest subtree first.", kThakur, {}},
       CollectiveKind::kBcast,
       bcast_binomial_tree},
      {{"binomial_tree", "Vectors are combined up a binomial tree.", kThakur, {}},
       CollectiveKind::kReduce,
       reduce_binomial_tree},
      {{"recursive_doubling",
        "Pairs at distance 1, 2, 4 … exchange and combine whole vectors; ranks past a power of two fold in.",
        kThakur,
        {}},
       CollectiveKind::kAllreduce,
       allreduce_recursive_doubling},
      {{"ring",
        "A reduce-scatter and then an allgather around a ring; least bytes for long vectors.",
        kPatarasuk,
        {}},
       CollectiveKind::kAllreduce,
       allreduce_ring},
      {{"ring", "Each block goes once around a ring and gathers every rank's part.", kPatarasuk, {}},
       CollectiveKind::kReduceScatter,
       reduce_scatter_ring},
      {{"ring", "Each rank's block goes once around a ring.", kThakur, {}},
       CollectiveKind::kAllgather,
       allgather_ring},
      {{"linear", "Every rank sends its block straight to the root.", kThakur, {}},
       CollectiveKind::kGather,
       gather_linear},
      {{"linear", "The root sends every rank its block, in rank order.", kThakur, {}},
       CollectiveKind::kScatter,
       scatter_linear},
      {{"linear", "All receives and all sends at once, each rank starting with its neighbour.", kThakur, {}},
       CollectiveKind::kAlltoall,
       alltoall_linear},
      {{"recursive_doubling", "Partial sums from 1, 2, 4 … places before.", kHillis, {}},
       CollectiveKind::kScan,
       scan_recursive_doubling},
      {{"recursive_doubling", "As scan, with a second sum that leaves the rank itself out.", kHillis, {}},
       CollectiveKind::kExscan,
       exscan_recursive_doubling},
  };
  return kAll;
}

}  // namespace

std::span<const CollectiveAlgorithm> collective_algorithms() { return algorithms(); }

}  // namespace weft::goal
