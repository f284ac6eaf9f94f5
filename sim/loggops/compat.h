// The two compatibility modes: replays that give, to the nanosecond, the finish times of two public
// simulators. What is reproduced, their defects included, and what is refused: COMPATIBILITY.md.
//
// Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim – simulating large-scale applications in the
// LogGOPS model", LSAP 2010; S. Shen et al., "ATLAHS: an application-centric network simulator toolchain for
// AI, HPC, and distributed storage", SC 2025.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/results/records.h"

namespace weft::sim {

// The LogGOPS parameters, with the defaults of both programs.
struct CompatParameters {
  std::int64_t L = 2500;    // ns: latency
  std::int64_t o = 1500;    // ns: cpu time of a send or a receive
  std::int64_t g = 1000;    // ns: gap between messages at a NIC
  std::int64_t O = 0;       // ns per byte after the first: cpu
  double G = 6;             // ns per byte after the first: network; whole in classic
  std::uint64_t S = 65548;  // bytes: larger messages are sent by rendezvous
};

struct CompatResult {
  std::vector<std::uint64_t> finish_ns;  // per rank: when the last of its cpus falls idle
  std::vector<results::Rank> ranks;      // the same and more; host = rank
  // Sent to received order; start: the send operation began, finish: the message reached the receiver's NIC.
  std::vector<results::Flow> flows;  // only if asked for; ordered by (start, source)
  std::uint64_t events = 0;          // executed, those put back included
  std::uint64_t digest = 0;          // of executed events and finish times
  std::uint64_t total_ops = 0, executed_ops = 0;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t unreceived = 0;  // messages no receive took
  StopReason stop = StopReason::kNone;
  Time stopped_at;  // how far the clock had come, where the run was stopped
  // If operations were left over or messages unreceived, and nothing stopped the run: who waits for what, a
  // line each. The programs themselves report such a run as a success, or print no times.
  std::vector<std::string> diagnosis;

  bool complete() const { return executed_ops == total_ops && unreceived == 0; }
};

}  // namespace weft::sim
