// NCCL calls and kernels of all processes as a graph. README.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/nsys/profile.h"

namespace weft::goal {

struct NcclGraph {
  Graph graph;
  std::uint64_t elapsed_ns = 0;              // the longest of a process
  std::uint64_t inferred_communicators = 0;  // whose making is in no report
  std::uint64_t assumed_ranks = 0;           // processes numbered by file and pid
  std::uint64_t calls_without_kernel = 0;    // timed by the CPU's range instead
  std::uint64_t kernels_without_call = 0;    // of NCCL, in the compute
  std::uint64_t copies = 0;                  // messages of a rank to itself
};

// Throws InputError for reports that don't fit together: ranks missing from a communicator, other numbers of
// calls.
NcclGraph nccl_graph(std::vector<NsysProcess> processes);

}  // namespace weft::goal
