// The built-in collective algorithms, as listed in algorithms.cc. Each appends the steps of one group of one
// rank (see CollectiveAlgorithm::expand). COSTS.md of this folder has their costs.
#pragma once

#include "goal/collectives/steps.h"

namespace weft::goal {

using ExpandFunction = bool(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// dissemination.cc
ExpandFunction barrier_dissemination;

// trees.cc
ExpandFunction barrier_binomial_tree;
ExpandFunction bcast_binomial_tree;
ExpandFunction bcast_knomial_tree;
ExpandFunction bcast_binary_tree;
ExpandFunction bcast_pipelined_chain;
ExpandFunction reduce_binomial_tree;
ExpandFunction reduce_knomial_tree;
ExpandFunction reduce_binary_tree;
ExpandFunction reduce_pipelined_chain;
ExpandFunction allreduce_reduce_bcast;

// split_binary_tree.cc
ExpandFunction bcast_split_binary_tree;

// double_binary_tree.cc
ExpandFunction allreduce_double_binary_tree;
std::uint32_t double_binary_tree_lanes(const CollectiveCall& call);

// scatter_allgather.cc
ExpandFunction bcast_scatter_allgather;
ExpandFunction bcast_scatter_ring_allgather;

// recursive_doubling.cc
ExpandFunction barrier_recursive_doubling;
ExpandFunction allreduce_recursive_doubling;
ExpandFunction scan_recursive_doubling;
ExpandFunction exscan_recursive_doubling;

// halving_doubling.cc
ExpandFunction reduce_rabenseifner;
ExpandFunction allreduce_rabenseifner;
ExpandFunction allreduce_swing;
std::string swing_objection(const CollectiveOptions& options, std::uint32_t ranks);

// hierarchical.cc
ExpandFunction allreduce_hierarchical;

// torus_ring.cc
ExpandFunction allreduce_torus_ring;

// ring.cc
ExpandFunction allreduce_ring;
ExpandFunction allreduce_segmented_ring;
ExpandFunction reduce_scatter_ring;
ExpandFunction allgather_ring;

// linear.cc
ExpandFunction barrier_linear;
ExpandFunction bcast_linear;
ExpandFunction reduce_linear;
ExpandFunction scan_linear;
ExpandFunction exscan_linear;
ExpandFunction gather_linear;
ExpandFunction scatter_linear;
ExpandFunction alltoall_linear;
ExpandFunction allgather_linear;

// recursive_halving.cc
ExpandFunction reduce_scatter_recursive_halving;
ExpandFunction reduce_scatter_butterfly;

// pairwise.cc
ExpandFunction reduce_scatter_pairwise;
ExpandFunction alltoall_pairwise;
ExpandFunction alltoall_pairwise_xor;

// windowed.cc
ExpandFunction alltoall_spread_out;
ExpandFunction alltoall_windowed;
std::uint32_t alltoall_windowed_lanes(const CollectiveCall& call);

// bruck.cc
ExpandFunction allgather_bruck;
ExpandFunction alltoall_bruck;

// neighbor_exchange.cc, allgather_recursive_doubling.cc
ExpandFunction allgather_neighbor_exchange;
ExpandFunction allgather_recursive_doubling;

// binomial_gather.cc
ExpandFunction gather_binomial_tree;
ExpandFunction scatter_binomial_tree;

// neighbors.cc
bool neighbor_allgather_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                               Group& out);
bool neighbor_alltoall_linear(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                              Group& out);

// by_root.cc
ExpandFunction allgather_gather_bcast;
ExpandFunction reduce_scatter_reduce_then_scatter;

}  // namespace weft::goal
