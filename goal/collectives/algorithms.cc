#include "goal/collectives/algorithms.h"

#include <utility>
#include <vector>

#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/torus.h"

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
constexpr const char* kMpi = "MPI 4.0, section 8.6, and what Open MPI and MPICH do";
constexpr const char* kMpich = "MPICH 4, src/mpi/coll";
constexpr const char* kBarnett =
    "M. Barnett et al., \"Interprocessor Collective Communication Library (InterCom)\", SHPCC 1994";
constexpr const char* kSanders =
    "P. Sanders, J. Speck, J. L. Träff, \"Two-Tree Algorithms for Full Bandwidth Broadcast, Reduction and "
    "Scan\", Parallel Computing 35(12), 2009";
constexpr const char* kSwing =
    "D. De Sensi et al., \"Swing: Short-cutting Rings for Higher Bandwidth Allreduce\", NSDI 2024";
constexpr const char* kJain =
    "N. Jain, Y. Sabharwal, \"Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects\", "
    "ICS 2010";
constexpr const char* kPjesivac =
    "J. Pješivac-Grbović et al., \"Performance Analysis of MPI Collective Operations\", Cluster Computing "
    "10(2), 2007";
constexpr const char* kHillis = "W. D. Hillis, G. L. Steele, \"Data Parallel Algorithms\", CACM 29(12), 1986";

ParameterSpec segment(const char* default_value) {
  return {"segment", ParameterType::kBytes, default_value,
          "Longest message, rounded down to whole elements; 0 for the whole vector at once."};
}

ParameterSpec tree_radix() {
  return {"radix", ParameterType::kInteger, "4", "The root has radix - 1 children on each level.",
          from_to("2", "2147483647")};
}

ParameterSpec torus_dims(const char* default_value) {
  return {
      "dims", ParameterType::kText, default_value,
      "Sizes of the torus, written like 8x8x4, ranks with the last one fastest; 0: follows from the ranks."};
}

ParameterSpec torus_parts() {
  return {"parallel", ParameterType::kInteger, "1",
          "Parts of the vector, each in an order of dimensions and a direction of its own; 0 for two per "
          "dimension.",
          from_to("0", "2147483647")};
}

std::vector<CollectiveAlgorithm> algorithms() {
  return {
      {{"dissemination", "In round k each rank signals the one 2^k places on.", kHensgen, {}},
       CollectiveKind::kBarrier,
       barrier_dissemination},
      {{"recursive_doubling",
        "Pairs at distance 1, 2, 4 … signal each other; ranks past a power of two fold in.",
        kPjesivac,
        {}},
       CollectiveKind::kBarrier,
       barrier_recursive_doubling},
      {{"binomial_tree", "Signals go up a binomial tree and down again.", kPjesivac, {}},
       CollectiveKind::kBarrier,
       barrier_binomial_tree},
      {{"linear", "Rank 0 waits for a signal of each other rank and then answers all.", kPjesivac, {}},
       CollectiveKind::kBarrier,
       barrier_linear},
      {{"binomial_tree",
        "The root's data goes down a binomial tree, largest subtree first.",
        kThakur,
        {segment("0B")}},
       CollectiveKind::kBcast,
       bcast_binomial_tree},
      {{"knomial_tree",
        "As binomial_tree, with fewer levels and more children.",
        kPjesivac,
        {tree_radix(), segment("0B")}},
       CollectiveKind::kBcast,
       bcast_knomial_tree},
      {{"binary_tree", "Segments follow each other down a binary tree.", kPjesivac, {segment("32KiB")}},
       CollectiveKind::kBcast,
       bcast_binary_tree},
      {{"split_binary_tree",
        "One half goes down the left subtree, the other down the right one; then pairs exchange them.",
        kPjesivac,
        {segment("32KiB")}},
       CollectiveKind::kBcast,
       bcast_split_binary_tree},
      {{"pipelined_chain", "Segments follow each other from rank to rank.", kPjesivac, {segment("64KiB")}},
       CollectiveKind::kBcast,
       bcast_pipelined_chain},
      {{"scatter_allgather",
        "Blocks go down a binomial tree, then an allgather by recursive doubling.",
        kBarnett,
        {}},
       CollectiveKind::kBcast,
       bcast_scatter_allgather},
      {{"scatter_ring_allgather",
        "Blocks go down a binomial tree, then an allgather around a ring.",
        kBarnett,
        {}},
       CollectiveKind::kBcast,
       bcast_scatter_ring_allgather},
      {{"linear", "The root sends to all others at once.", kPjesivac, {}},
       CollectiveKind::kBcast,
       bcast_linear},
      {{"binomial_tree", "Vectors are combined up a binomial tree.", kThakur, {segment("0B")}},
       CollectiveKind::kReduce,
       reduce_binomial_tree},
      {{"knomial_tree",
        "As binomial_tree, with fewer levels and more children.",
        kPjesivac,
        {tree_radix(), segment("0B")}},
       CollectiveKind::kReduce,
       reduce_knomial_tree},
      {{"binary_tree", "Segments are combined up a binary tree.", kPjesivac, {segment("32KiB")}},
       CollectiveKind::kReduce,
       reduce_binary_tree},
      {{"pipelined_chain", "Segments are combined from rank to rank.", kPjesivac, {segment("64KiB")}},
       CollectiveKind::kReduce,
       reduce_pipelined_chain},
      {{"rabenseifner",
        "A reduce-scatter by recursive halving, then a gather up a binomial tree; for long vectors.",
        kThakur,
        {}},
       CollectiveKind::kReduce,
       reduce_rabenseifner},
      {{"linear", "All send their vectors straight to the root.", kPjesivac, {}},
       CollectiveKind::kReduce,
       reduce_linear},
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
      {{"segmented_ring",
        "As ring, with the reduce-scatter done for one segment of each block after the other.",
        kOpenMpi,
        {segment("1MiB")}},
       CollectiveKind::kAllreduce,
       allreduce_segmented_ring},
      {{"rabenseifner",
        "A reduce-scatter by recursive halving and an allgather by recursive doubling; for long vectors.",
        kThakur,
        {}},
       CollectiveKind::kAllreduce,
       allreduce_rabenseifner},
      {{"swing",
        "As rabenseifner, with partners nearer to each other on a ring or torus: by turns 1, -1, 3, -5 … "
        "away.",
        kSwing,
        {torus_dims("0"), torus_parts()}},
       CollectiveKind::kAllreduce,
       allreduce_swing,
       torus_lanes,
       swing_objection},
      {{"double_binary_tree",
        "Two trees, each the other's leaves inside: half of the vector up and down either, in segments.",
        kSanders,
        {segment("128KiB")}},
       CollectiveKind::kAllreduce,
       allreduce_double_binary_tree,
       double_binary_tree_lanes},
      {{"torus_ring",
        "Rings of a torus, one dimension after the other: reduce-scatters, then allgathers the same way "
        "back.",
        kJain,
        {torus_dims("0x0"), torus_parts()}},
       CollectiveKind::kAllreduce,
       allreduce_torus_ring,
       torus_lanes,
       torus_objection},
      {{"hierarchical",
        "Up a binomial tree in each node, rabenseifner among the nodes' first ranks, and down again.",
        kOpenMpi,
        {{"ranks_per_node", ParameterType::kInteger, "", "Consecutive ranks that share a node.",
          from_to("1", "2147483647")}}},
       CollectiveKind::kAllreduce,
       allreduce_hierarchical},
      {{"reduce_bcast",
        "A reduce to rank 0 and a bcast from it, both over a binomial tree.",
        kOpenMpi,
        {segment("0B")}},
       CollectiveKind::kAllreduce,
       allreduce_reduce_bcast},
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
        {{"radix", ParameterType::kInteger, "2", "Hops are digits times powers of this.",
          from_to("2", "2147483647")}}},
       CollectiveKind::kAlltoall,
       alltoall_bruck},
      {{"spread_out",
        "As linear, but the next batch of messages begins when the one before has finished.",
        kMpich,
        {{"parallel", ParameterType::kInteger, "32", "Peers in a batch; 0 for all.",
          from_to("0", "2147483647")}}},
       CollectiveKind::kAlltoall,
       alltoall_spread_out},
      {{"windowed",
        "As linear, but a rank has so many exchanges under way, each beginning when another has finished.",
        kOpenMpi,
        {{"parallel", ParameterType::kInteger, "8", "Exchanges under way; 0 for all.",
          from_to("0", "2147483647")}}},
       CollectiveKind::kAlltoall,
       alltoall_windowed,
       alltoall_windowed_lanes},
      {{"recursive_doubling", "Partial sums from 1, 2, 4 … places before.", kHillis, {}},
       CollectiveKind::kScan,
       scan_recursive_doubling},
      {{"linear", "Each rank adds to what the one before has, and passes it on.", kOpenMpi, {}},
       CollectiveKind::kScan,
       scan_linear},
      {{"recursive_doubling", "As scan, with a second sum that leaves the rank itself out.", kHillis, {}},
       CollectiveKind::kExscan,
       exscan_recursive_doubling},
      {{"linear",
        "Each rank gets its result from the one before, and passes on the sum with its own.",
        kOpenMpi,
        {}},
       CollectiveKind::kExscan,
       exscan_linear},
      {{"linear", "All receives and all sends at once.", kMpi, {}},
       CollectiveKind::kNeighborAllgather,
       neighbor_allgather_linear},
      {{"linear", "All receives and all sends at once.", kMpi, {}},
       CollectiveKind::kNeighborAlltoall,
       neighbor_alltoall_linear},
  };
}

}  // namespace

std::span<const CollectiveAlgorithm> collective_algorithms() {
  static const std::vector<CollectiveAlgorithm> kAll = [] {
    std::vector<CollectiveAlgorithm> all = algorithms();
    for (CollectiveAlgorithm& algorithm : nccl::algorithms()) all.push_back(std::move(algorithm));
    return all;
  }();
  return kAll;
}

}  // namespace weft::goal
