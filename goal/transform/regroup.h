// Several ranks in one: nodes on which messages are copies.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "sim/units/quantity.h"

namespace weft::goal {

struct RegroupOptions {
  std::uint32_t ranks_per_node = 1;  // consecutive ranks; the last node may have fewer
  Time copy_latency;
  Bandwidth copy_bandwidth = Bandwidth::gbps(1200);  // 150 GB/s
  bool share_nics = false;  // true: the ranks of a node use the same NICs; false: each has its own
};

// The graph with one rank for each node. Every rank of a node keeps its compute streams (cpus), under numbers
// of their own. A message within a node becomes a calc of latency + bytes / bandwidth on the sender's cpu,
// and its receive a calc of 0 that requires it; where others wait for the start of the receive, they wait for
// a calc of 0 that stands for its posting. Which receive takes a message is decided by the ideal schedule
// (ideal_schedule.h): in program order, unless operations overtake each other. Messages between nodes match
// as before: those between other members of the nodes are on communicators of their own. Wildcards become the
// source and tag that the ideal schedule finds. What was decided or dropped is counted in *anomalies.
//
// Source: the ranks with several GPUs of ATLAHS (S. Shen et al., SC 2025), which has no dependency between
// the two sides of a copy.
//
// Throws InputError for a graph that can't run to its end, for a collective in which two ranks of a node take
// part (it has no meaning for one rank: expand it first), and for more than 65,536 cpus or 256 NICs on a
// node.
Graph regroup(const Graph& graph, const RegroupOptions& options, std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
