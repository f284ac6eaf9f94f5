// Which algorithm, protocol and number of channels NCCL would use, and how long it expects a collective to
// take.
//
// NCCL estimates latency + bytes / rate for every algorithm and protocol, from tables of measured figures and
// the rings that it found in the machine, and takes the least (src/graph/tuning.cc, src/enqueue.cc). The
// search for rings is reduced here to what nodes of equal GPUs joined by switches need: TUNER.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/collectives/nccl/node.h"
#include "goal/collectives/nccl/settings.h"
#include "goal/graph/graph.h"

namespace weft::goal::nccl {

// The rings that NCCL would find: so many channels, each at these rates.
struct Rings {
  std::uint32_t channels = 0;  // as found; doubled when they are used
  double inside_gbs = 0, between_gbs = 0;
  std::uint32_t all_channels = 0;   // of the communicator, without a limit
  std::uint32_t used_channels = 0;  // of the communicator
};

struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::string why_not;       // empty: it could be used; else the rest is 0
  double latency_us = 0;     // NCCL's estimate
  double bandwidth_gbs = 0;  // of the operation's bytes (times the ranks for allgather and reduce_scatter)
  double estimate_us = 0;    // what NCCL compares
  double wire_us = 0;        // the least that a node's NICs need for the bytes that leave it; 0 on one node
  double time_us = 0;        // with the corrections of the node, and no less than the wire needs
};

struct Choice {
  Candidate best;
  std::uint32_t channels = 0, threads = 0;
  std::uint32_t most_channels = 0;      // that the algorithm has: NVLS has its own, the others those of rings
  std::uint64_t bytes = 0;              // as NCCL counts them
  std::uint64_t least_chunk_bytes = 0;  // of a ring with LL or LL128, before NCCL 2.20; else 0
  std::uint64_t chunk_grain_bytes = 0;  // of such a ring in NCCL 2.20 and 2.21; else 0
  std::vector<Candidate> candidates;
};

class Tuner {
 public:
  // Throws InputError if the node can't be (no GPU, no rate …) or a setting is out of bounds.
  Tuner(const Node& node, const Settings& settings);

  // Returns a tuner for nodes of which so many GPUs, with their share of the NICs, are of the group.
  // `uneven`: of so many nodes, some of which have fewer, `ranks.first` at least; 0: as NodeRanks tells.
  Tuner on_nodes_of(const NodeRanks& ranks, std::uint32_t uneven = 0) const;

  // Does NCCL tune this kind? (The others are sends and receives, or not there.)
  static bool tunes(CollectiveKind kind);
  // `bytes` as in goal::Collective: the vector, or one rank's block. Consecutive ranks fill the nodes. Throws
  // InputError if the settings leave nothing to choose. REQUIRES: tunes(kind), ranks >= 2.
  Choice choose(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks) const;

  Rings rings(std::uint32_t ranks) const;
  const Node& node() const { return node_; }
  // What NVLS reaches of the node's links.
  std::uint32_t nvls_percent() const;

 private:
  struct Call;
  std::uint32_t nodes(std::uint32_t ranks) const;
  // Gives, where there are several nodes, that which has the fewest of the ranks, and the NICs of those.
  Node smallest_node(std::uint32_t ranks) const;
  Call call_of(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks) const;
  std::string why_not(const Call& call, Algorithm algorithm, Protocol protocol) const;
  double bandwidth(const Call& call, Algorithm algorithm, Protocol protocol) const;
  double nvls_bandwidth(const Call& call, Algorithm algorithm) const;
  double latency(const Call& call, Algorithm algorithm, Protocol protocol) const;
  double ring_latency(const Call& call, Protocol protocol) const;
  double wire_us(const Call& call, Algorithm algorithm, Protocol protocol) const;
  double channels_us(const Call& call, Algorithm algorithm, Protocol protocol) const;
  double corrected(const Call& call, const Candidate& candidate, double moving_us) const;
  Candidate estimate(const Call& call, Algorithm algorithm, Protocol protocol) const;
  void set_channels(const Call& call, Choice& choice) const;

  Node node_;
  Settings settings_;
};

}  // namespace weft::goal::nccl
