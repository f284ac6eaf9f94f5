// The built-in collective algorithms, as listed in algorithms.cc. Each appends the steps of one group of one
// rank (see CollectiveAlgorithm::expand). README.md of this folder has their costs.
#pragma once

#include "goal/collectives/steps.h"

namespace weft::goal {

// dissemination.cc
bool barrier_dissemination(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// binomial_tree.cc
bool bcast_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// recursive_doubling.cc
bool allreduce_recursive_doubling(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                  Group& out);
bool scan_recursive_doubling(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool exscan_recursive_doubling(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                               Group& out);

// ring.cc
bool allreduce_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool allgather_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// linear.cc
bool gather_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool scatter_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool alltoall_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool allgather_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// recursive_halving.cc
bool reduce_scatter_recursive_halving(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                      Group& out);
bool reduce_scatter_butterfly(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                              Group& out);

// pairwise.cc
bool reduce_scatter_pairwise(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool alltoall_pairwise(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool alltoall_pairwise_xor(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// windowed.cc
bool alltoall_spread_out(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool alltoall_windowed(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t alltoall_windowed_lanes(const CollectiveCall& call);

// bruck.cc
bool allgather_bruck(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool alltoall_bruck(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// neighbor_exchange.cc, allgather_recursive_doubling.cc
bool allgather_neighbor_exchange(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                 Group& out);
bool allgather_recursive_doubling(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                  Group& out);

// binomial_gather.cc
bool gather_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool scatter_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// by_root.cc
bool allgather_gather_bcast(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_scatter_reduce_then_scatter(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                        Group& out);

}  // namespace weft::goal
