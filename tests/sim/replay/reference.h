// A second simulator of the same rules, written to be read and not to be fast: the oracle of property tests.
//
// It follows the READMEs of sim/replay and sim/loggops (semantics=weft) and shares no code with either: plain
// lists that are searched from the oldest on, and an event list whose least entry is looked for. What it
// takes from elsewhere is the graph itself and the groups of collectives.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::sim {

struct ReferenceParameters {
  std::int64_t L_ps = 0, o_ps = 0, g_ps = 0;
  std::int64_t G_fs = 0, O_fs = 0, reduction_fs = 0, copy_fs = 0;  // per byte
  std::uint64_t S = 0;
  std::uint64_t collective_limit = UINT64_MAX;  // S of collectives in rounds, where it is less
  // Rendezvous follows from these four: how much goes with the request; is the rest asked for (get); the size
  // of its pieces and how many of them the network has at a time.
  std::uint64_t first_fragment = 0, fragment = UINT64_MAX;
  bool get = false;
  std::uint32_t depth = 1;
  std::uint32_t connections = 1;  // between two ranks: of no meaning in a network that has none
  std::uint32_t ranks_per_host = 1;
  std::array<std::string, goal::kCollectiveKinds> algorithms;
};

struct ReferenceRank {
  std::int64_t finish_ps = 0, compute_ps = 0, overhead_ps = 0;
  std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0, ops = 0;
  bool operator==(const ReferenceRank&) const = default;
};

struct ReferenceResult {
  std::vector<ReferenceRank> ranks;
  std::uint64_t messages = 0, bytes = 0, executed_ops = 0;
  std::uint64_t unreceived = 0;  // messages (or requests to send) that no receive took
  bool operator==(const ReferenceResult&) const = default;
};

// Runs the graph until nothing more can happen. All times must stay well below 2^63 ps.
ReferenceResult reference_run(const goal::Graph& graph, const ReferenceParameters& parameters);

}  // namespace weft::sim
