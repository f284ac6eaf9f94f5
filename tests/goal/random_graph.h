// Random GOAL graphs for property tests: the same seed gives the same graph everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

struct RandomGraphOptions {
  bool collectives = true;  // communicators and collectives too
  bool labels = true;       // labels on some operations, odd ones among them
  bool wide = true;         // cpus above 255, 64-bit sizes, wildcards
  bool interleaved = true;  // requires and irequires mixed among one operation's dependents
};

// Lists of neighbors, and now and then of counts. `below(n)` draws a number below n.
template <typename Below>
void add_neighbors(Collective& collective, std::uint64_t communicator_size, Below& below) {
  const auto some_ranks = [&] {
    std::vector<std::uint32_t> list(below(4));
    for (std::uint32_t& rank : list) rank = static_cast<std::uint32_t>(below(communicator_size));
    return list;
  };
  collective.destinations = some_ranks();
  collective.sources = some_ranks();
  if (below(2) == 0) return;
  for (std::size_t i = 0; i < collective.sources.size(); ++i)
    collective.receive_counts.push_back(below(5000));
  if (collective.kind == CollectiveKind::kNeighborAllgather) return;
  collective.bytes = 0;
  for (std::size_t i = 0; i < collective.destinations.size(); ++i) collective.counts.push_back(below(5000));
}

template <typename Below>
Collective random_collective(std::size_t communicator_size, std::uint32_t comm, std::uint64_t size,
                             const Below& below) {
  Collective collective{.kind = static_cast<CollectiveKind>(below(kCollectiveKinds)), .comm = comm};
  const CollectiveKind kind = collective.kind;
  const auto counts = [&] {
    std::vector<std::uint64_t> list(communicator_size);
    for (std::uint64_t& count : list) count = below(3) == 0 ? 0 : below(5000);
    return list;
  };
  if (kind == CollectiveKind::kBcast || kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather ||
      kind == CollectiveKind::kScatter) {
    collective.root = static_cast<std::uint32_t>(below(communicator_size));
  }
  const bool takes_counts = kind >= CollectiveKind::kReduceScatter && kind <= CollectiveKind::kAlltoall;
  if (takes_counts && below(2) == 0) {
    collective.counts = counts();
    if (kind == CollectiveKind::kAlltoall) collective.receive_counts = counts();
  } else if (kind != CollectiveKind::kBarrier) {
    collective.bytes = size;
  }
  if (kind != CollectiveKind::kBarrier && below(2) == 0) collective.element_bytes = 8;
  if (is_of_neighbors(kind)) add_neighbors(collective, communicator_size, below);
  collective.v_form = (takes_counts || is_of_neighbors(kind)) && below(3) == 0;
  if (below(4) == 0) collective.algorithm = "ring:segment=64KiB";
  return collective;
}

inline Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {}) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  GraphBuilder builder;
  const Rank ranks = static_cast<Rank>(1 + below(6));
  std::vector<std::vector<Rank>> members{{}};
  members[0].resize(ranks);
  for (Rank r = 0; r < ranks; ++r) members[0][r] = r;
  for (std::uint64_t n = options.collectives ? below(4) : 0; n > 0; --n) {
    std::vector<Rank> some;
    for (Rank r = 0; r < ranks; ++r) {
      if (below(2) == 0) some.push_back(r);
    }
    std::shuffle(some.begin(), some.end(), random);
    static const std::vector<std::string> names = {"", "row", "a \"b\" \\ c\n", "MPI_COMM_WORLD dup"};
    const std::uint32_t index = builder.add_communicator({names[below(names.size())], some});
    if (index == members.size()) members.push_back(some.empty() ? members[0] : some);
  }
  static const std::vector<std::string> labels = {"",    "l1",       "l2", "l2_", "send",
                                                  "x y", "requires", "l7", "_",   "3"};
  for (Rank r = 0; r < ranks; ++r) {
    const std::uint64_t ops = below(12);
    for (std::uint64_t i = 0; i < ops; ++i) {
      const auto cpu = static_cast<std::uint16_t>(below(3) == 0 ? below(options.wide ? 65536 : 256) : 0);
      const auto nic = static_cast<std::uint8_t>(below(3) == 0 ? below(256) : 0);
      const std::uint64_t size = options.wide && below(4) == 0 ? random() : below(100000);
      const std::uint32_t tag = below(3) == 0 ? kAny : static_cast<std::uint32_t>(below(5));
      const auto comm = static_cast<std::uint32_t>(below(members.size()));
      const auto peer = static_cast<Rank>(below(ranks));
      const std::string label = options.labels ? labels[below(labels.size())] : "";
      switch (below(options.collectives ? 4 : 3)) {
        case 0:
          builder.add({.kind = OpKind::kCalc, .cpu = cpu, .value = size}, label);
          break;
        case 1:
          builder.add({OpKind::kSend, nic, cpu, peer, tag, comm, size}, label);
          break;
        case 2:
          builder.add({OpKind::kRecv, nic, cpu, below(4) == 0 ? kAny : peer, tag, comm, size}, label);
          break;
        default:
          builder.add_collective(random_collective(members[comm].size(), comm, size, below), cpu, nic, label);
      }
    }
    for (std::uint64_t e = ops == 0 ? 0 : below(3 * ops); e > 0; --e) {
      const auto a = static_cast<OpIndex>(below(ops)), b = static_cast<OpIndex>(below(ops));
      // Any pair will do, cycles and duplicates included: the formats must keep them. Without interleaving
      // the kind of an edge hangs on the operation it leaves.
      builder.add_edge(a, b, options.interleaved ? below(2) == 0 : a % 2 == 0);
    }
    builder.end_rank();
  }
  return builder.finish();
}

}  // namespace weft::goal
