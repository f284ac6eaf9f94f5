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
constexpr const char* kBruck =
    "J. Bruck et al., \"Efficient Algorithms for All-to-All Communications in Multiport Message-Passing "
    "Systems\", IEEE TPDS 8(11), 1997";
constexpr const char* kChen =
    "J. Chen et al., \"Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast "
    "Ethernet\", HPC Asia 2005";
constexpr const char* kTraeff =
    "J. L. Träff, \"An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application\", "
    "EuroPVM/MPI 2005";
constexpr const char* kOpenMpi = "Open MPI 4.1, components coll/base and coll/tuned";
constexpr const char* kMpich = "MPICH 4, src/mpi/coll";
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
      {{"recursive_halving",
        "Pairs exchange half of what is left, at half the distance each time; ranks past a power of two fold "
        "in.",
        kThakur,
        {}},
       CollectiveKind::kReduceScatter,
       reduce_scatter_recursive_halving},
      {{"butterfly",
        "As recursive_halving, but at distance 1, 2, 4 …; in the end each result goes to its rank.",
        kTraeff,
        {}},
       CollectiveKind::kReduceScatter,
       reduce_scatter_butterfly},
      {{"pairwise", "Each rank gets its block from one rank after the other.", kThakur, {}},
       CollectiveKind::kReduceScatter,
       reduce_scatter_pairwise},
      {{"reduce_then_scatter",
        "A reduce over a binomial tree, and the blocks of the result straight from rank 0.",
        kOpenMpi,
        {}},
       CollectiveKind::kReduceScatter,
       reduce_scatter_reduce_then_scatter},
      {{"ring", "Each rank's block goes once around a ring.", kThakur, {}},
       CollectiveKind::kAllgather,
       allgather_ring},
      {{"bruck", "In round k each rank sends what it has, as far as needed, 2^k places back.", kBruck, {}},
       CollectiveKind::kAllgather,
       allgather_bruck},
      {{"recursive_doubling",
        "Pairs at distance 1, 2, 4 … exchange what they have; for other numbers than powers of two with "
        "steps "
        "that fill the gaps.",
        kThakur,
        {}},
       CollectiveKind::kAllgather,
       allgather_recursive_doubling},
      {{"neighbor_exchange",
        "Two blocks at a time, by turns with the rank before and the one after; odd numbers of ranks use the "
        "ring.",
        kChen,
        {}},
       CollectiveKind::kAllgather,
       allgather_neighbor_exchange},
      {{"linear", "Each rank sends its block to all others at once.", kOpenMpi, {}},
       CollectiveKind::kAllgather,
       allgather_linear},
      {{"gather_bcast",
        "All blocks go straight to rank 0, and from there down a binomial tree.",
        kOpenMpi,
        {}},
       CollectiveKind::kAllgather,
       allgather_gather_bcast},
      {{"linear", "Every rank sends its block straight to the root.", kThakur, {}},
       CollectiveKind::kGather,
       gather_linear},
      {{"binomial_tree",
        "Blocks go up a binomial tree, those of a subtree as one message; linear where they differ in size.",
        kThakur,
        {}},
       CollectiveKind::kGather,
       gather_binomial_tree},
      {{"linear", "The root sends every rank its block, in rank order.", kThakur, {}},
       CollectiveKind::kScatter,
       scatter_linear},
      {{"binomial_tree",
        "Blocks go down a binomial tree, those of a subtree as one message; linear where they differ in "
        "size.",
        kThakur,
        {}},
       CollectiveKind::kScatter,
       scatter_binomial_tree},
      {{"linear", "All receives and all sends at once, each rank starting with its neighbour.", kThakur, {}},
       CollectiveKind::kAlltoall,
       alltoall_linear},
      {{"pairwise",
        "In round k each rank sends k places on, and receives from k places before.",
        kThakur,
        {}},
       CollectiveKind::kAlltoall,
       alltoall_pairwise},
      {{"pairwise_xor",
        "In round k each rank exchanges with the one whose number differs in the bits of k; other numbers of "
        "ranks than powers of two use pairwise.",
        kThakur,
        {}},
       CollectiveKind::kAlltoall,
       alltoall_pairwise_xor},
      {{"bruck",
        "Blocks hop 1, 2, 4 … places on, many in one message; pairwise where they differ in size.",
        kBruck,
        {{"radix", ParameterType::kInteger, "2", "Hops are digits times powers of this; at least 2."}}},
       CollectiveKind::kAlltoall,
       alltoall_bruck},
      {{"spread_out",
        "As linear, but the next batch of messages begins when the one before has finished.",
        kMpich,
        {{"parallel", ParameterType::kInteger, "32", "Peers in a batch; 0 for all."}}},
       CollectiveKind::kAlltoall,
       alltoall_spread_out},
      {{"windowed",
        "As linear, but a rank has so many exchanges under way, each beginning when another has finished.",
        kOpenMpi,
        {{"parallel", ParameterType::kInteger, "8", "Exchanges under way; 0 for all."}}},
       CollectiveKind::kAlltoall,
       alltoall_windowed,
       alltoall_windowed_lanes},
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
