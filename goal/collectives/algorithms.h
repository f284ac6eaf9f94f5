// The built-in collective algorithms, as listed in algorithms.cc. Each appends one rank's steps to an empty
// schedule; a communicator of one rank gives none. README.md of this folder has their costs.
#pragma once

#include "goal/collectives/schedule.h"

namespace weft::goal {

// dissemination.cc
void barrier_dissemination(const CollectiveCall& call, Schedule& schedule);

// binomial_tree.cc
void bcast_binomial_tree(const CollectiveCall& call, Schedule& schedule);
void reduce_binomial_tree(const CollectiveCall& call, Schedule& schedule);

// recursive_doubling.cc
void allreduce_recursive_doubling(const CollectiveCall& call, Schedule& schedule);
void scan_recursive_doubling(const CollectiveCall& call, Schedule& schedule);
void exscan_recursive_doubling(const CollectiveCall& call, Schedule& schedule);

// ring.cc
void allreduce_ring(const CollectiveCall& call, Schedule& schedule);
void reduce_scatter_ring(const CollectiveCall& call, Schedule& schedule);
void allgather_ring(const CollectiveCall& call, Schedule& schedule);

// linear.cc
void gather_linear(const CollectiveCall& call, Schedule& schedule);
void scatter_linear(const CollectiveCall& call, Schedule& schedule);
void alltoall_linear(const CollectiveCall& call, Schedule& schedule);

}  // namespace weft::goal
