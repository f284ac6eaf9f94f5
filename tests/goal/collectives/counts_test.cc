// Rounds, messages, bytes and reductions against the formulas of goal/collectives/COSTS.md, where p is the
// number of ranks, n the bytes of the vector, 2^k the largest power of two that is no more than p, and r = p
// - 2^k.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

#include "tests/goal/collectives/cases.h"

namespace weft::goal {
namespace {

using u64 = std::uint64_t;

u64 power(u64 p) { return std::bit_floor(p); }
u64 rest(u64 p) { return p - power(p); }
u64 k(u64 p) { return static_cast<u64>(std::bit_width(p)) - 1; }
u64 folds(u64 p) { return rest(p) > 0 ? 1 : 0; }
u64 pieces(u64 n, u64 size) { return (n + size - 1) / size; }
// Sum over all v < p of the bits set in v: hops of all blocks of a binomial scatter or gather.
u64 bits_below(u64 p) {
  u64 sum = 0;
  for (u64 v = 0; v < p; ++v) sum += static_cast<u64>(std::popcount(v));
  return sum;
}
// Most digits that are not zero, to base 4, in any v < p: depth of a 4-nomial tree.
u64 depth_of_4nomial(u64 p) {
  u64 most = 0;
  for (u64 v = 0; v < p; ++v) {
    u64 digits = 0;
    for (u64 left = v; left > 0; left /= 4) digits += left % 4 != 0 ? 1 : 0;
    most = std::max(most, digits);
  }
  return most;
}
u64 largest_divisor_up_to_root(u64 p) {
  u64 best = 1;
  for (u64 d = 1; d * d <= p; ++d) best = p % d == 0 ? d : best;
  return best;
}

Counts rabenseifner(u64 p, u64 n) {
  return {2 * k(p) + 2 * folds(p), 2 * power(p) * k(p) + 2 * rest(p), 2 * (p - 1) * n, (p - 1) * n};
}

}  // namespace

TEST_CASE("barriers count as their formulas say") {
  const CollectiveKind kind = CollectiveKind::kBarrier;
  check_counts(kind, "dissemination", [](u64 p, u64) {
    return Counts{ceil_log2(p), p * ceil_log2(p), 0, 0};
  });
  check_counts(kind, "recursive_doubling", [](u64 p, u64) {
    return Counts{k(p) + 2 * folds(p), power(p) * k(p) + 2 * rest(p), 0, 0};
  });
  check_counts(kind, "binomial_tree", [](u64 p, u64) { return Counts{2 * k(p), 2 * (p - 1), 0, 0}; });
  check_counts(kind, "linear", [](u64 p, u64) { return Counts{2, 2 * (p - 1), 0, 0}; });
}

TEST_CASE("bcasts count as their formulas say") {
  const CollectiveKind kind = CollectiveKind::kBcast;
  check_counts(kind, "", [](u64 p, u64 n) { return Counts{k(p), p - 1, (p - 1) * n, 0}; });
  check_counts(kind, "binomial_tree:segment=40B", [](u64 p, u64 n) {
    return Counts{k(p) + pieces(n, 40) - 1, (p - 1) * pieces(n, 40), (p - 1) * n, 0};
  });
  check_counts(kind, "knomial_tree:radix=4", [](u64 p, u64 n) {
    return Counts{depth_of_4nomial(p), p - 1, (p - 1) * n, 0};
  });
  check_counts(kind, "binary_tree:segment=40B", [](u64 p, u64 n) {
    return Counts{k(p) + pieces(n, 40) - 1, (p - 1) * pieces(n, 40), (p - 1) * n, 0};
  });
  // No element of 8 bytes is split: segments of 40.
  check_counts(kind, "pipelined_chain:segment=47B", [](u64 p, u64 n) {
    return Counts{p - 1 + pieces(n, 40) - 1, (p - 1) * pieces(n, 40), (p - 1) * n, 0};
  });
  check_counts(kind, "split_binary_tree:segment=0B", [](u64 p, u64 n) {
    return Counts{2 + k(p / 2), 2 * (p - 1), (p - 1) * n, 0};
  });
  check_counts(
      kind, "split_binary_tree:segment=40B",
      [](u64 p, u64 n) {
        const u64 segments = pieces(n / 2, 40);
        return Counts{2 + k(p / 2) + segments - 1, (p - 1) * (segments + 1), (p - 1) * n, 0};
      },
      true);
  check_counts(kind, "linear", [](u64 p, u64 n) { return Counts{1, p - 1, (p - 1) * n, 0}; });
  check_counts(
      kind, "scatter_ring_allgather",
      [](u64 p, u64 n) {
        return Counts{kAnyCount, (p - 1) * (p + 1), n / p * bits_below(p) + (p - 1) * n, 0};
      },
      true);
  check_counts(
      kind, "scatter_allgather",
      [](u64 p, u64 n) {
        if (rest(p) > 0) return Counts{.combined = 0};
        return Counts{2 * k(p), p - 1 + p * k(p), n / 2 * k(p) + (p - 1) * n, 0};
      },
      true);
}

TEST_CASE("reduces count as their formulas say") {
  const CollectiveKind kind = CollectiveKind::kReduce;
  check_counts(kind, "", [](u64 p, u64 n) { return Counts{k(p), p - 1, (p - 1) * n, (p - 1) * n}; });
  check_counts(kind, "knomial_tree:radix=4", [](u64 p, u64 n) {
    return Counts{depth_of_4nomial(p), p - 1, (p - 1) * n, (p - 1) * n};
  });
  check_counts(kind, "binary_tree:segment=40B", [](u64 p, u64 n) {
    return Counts{k(p) + pieces(n, 40) - 1, (p - 1) * pieces(n, 40), (p - 1) * n, (p - 1) * n};
  });
  check_counts(kind, "pipelined_chain:segment=40B", [](u64 p, u64 n) {
    return Counts{p - 1 + pieces(n, 40) - 1, (p - 1) * pieces(n, 40), (p - 1) * n, (p - 1) * n};
  });
  check_counts(kind, "linear", [](u64 p, u64 n) { return Counts{1, p - 1, (p - 1) * n, (p - 1) * n}; });
  check_counts(
      kind, "rabenseifner",
      [](u64 p, u64 n) {
        const u64 gathered = n / power(p) * bits_below(power(p));
        return Counts{2 * k(p) + folds(p), power(p) * k(p) + power(p) - 1 + rest(p), (p - 1) * n + gathered,
                      (p - 1) * n};
      },
      true);
}

TEST_CASE("allreduces count as their formulas say") {
  const CollectiveKind kind = CollectiveKind::kAllreduce;
  check_counts(kind, "recursive_doubling", [](u64 p, u64 n) {
    const u64 exchanged = power(p) * k(p);
    return Counts{k(p) + 2 * folds(p), exchanged + 2 * rest(p), (exchanged + 2 * rest(p)) * n,
                  (exchanged + rest(p)) * n};
  });
  check_counts(kind, "ring", [](u64 p, u64 n) {
    return Counts{2 * (p - 1), 2 * p * (p - 1), 2 * (p - 1) * n, (p - 1) * n};
  });
  check_counts(
      kind, "segmented_ring:segment=40B",
      [](u64 p, u64 n) {
        const u64 turns = pieces(n / p, 40);
        return Counts{(turns + 1) * (p - 1), (turns + 1) * p * (p - 1), 2 * (p - 1) * n, (p - 1) * n};
      },
      true);
  check_counts(kind, "rabenseifner", rabenseifner);
  check_counts(kind, "swing", rabenseifner);
  check_counts(
      kind, "swing:parallel=2",
      [](u64 p, u64 n) {
        Counts counts = rabenseifner(p, n);
        counts.messages *= 2;
        return counts;
      },
      true);
  check_counts(
      kind, "double_binary_tree:segment=40B",
      [](u64 p, u64 n) {
        const u64 segments = pieces(n / 2, 40), height = 1 + k(p - 1);
        return Counts{2 * height + segments - 1, 4 * (p - 1) * segments, 2 * (p - 1) * n, (p - 1) * n};
      },
      true);
  check_counts(kind, "torus_ring", [](u64 p, u64 n) {
    const u64 side = largest_divisor_up_to_root(p), rounds = 2 * (side - 1 + p / side - 1);
    return Counts{rounds, p * rounds, 2 * (p - 1) * n, (p - 1) * n};
  });
  check_counts(
      kind, "torus_ring:parallel=0",
      [](u64 p, u64 n) {
        const u64 side = largest_divisor_up_to_root(p), rounds = 2 * (side - 1 + p / side - 1);
        return Counts{rounds, kAnyCount, 2 * (p - 1) * n, (p - 1) * n};
      },
      true);
  check_counts(kind, "hierarchical:ranks_per_node=4", [](u64 p, u64 n) {
    const u64 nodes = pieces(p, 4);
    Counts counts = nodes > 1 ? rabenseifner(nodes, n) : Counts{0, 0, 0, 0};
    counts.rounds += 2 * k(std::min<u64>(p, 4));
    counts.messages += 2 * (p - nodes);
    counts.bytes += 2 * (p - nodes) * n;
    counts.combined += (p - nodes) * n;
    return counts;
  });
  check_counts(kind, "reduce_bcast", [](u64 p, u64 n) {
    return Counts{2 * k(p), 2 * (p - 1), 2 * (p - 1) * n, (p - 1) * n};
  });
}

TEST_CASE("scans count as their formulas say") {
  check_counts(CollectiveKind::kScan, "recursive_doubling", [](u64 p, u64 n) {
    u64 messages = 0;
    for (u64 d = 1; d < p; d *= 2) messages += p - d;
    return Counts{ceil_log2(p), messages, messages * n, messages * n};
  });
  check_counts(CollectiveKind::kExscan, "recursive_doubling", [](u64 p, u64 n) {
    u64 messages = 0, combined = 0;
    for (u64 d = 1; d < p; d *= 2) {
      messages += p - d;
      // The sums with the own part that a later round sends, and those without it but for the first.
      if (p > 2 * d) combined += p - 2 * d - std::min(d, p - 2 * d);
      if (d > 1) combined += p - d;
    }
    return Counts{ceil_log2(p), messages, messages * n, combined * n};
  });
  check_counts(CollectiveKind::kScan, "linear", [](u64 p, u64 n) {
    return Counts{p - 1, p - 1, (p - 1) * n, (p - 1) * n};
  });
  check_counts(CollectiveKind::kExscan, "linear", [](u64 p, u64 n) {
    return Counts{p - 1, p - 1, (p - 1) * n, (p - 2) * n};
  });
}

namespace {

// The peers of a rank's sends, group by group.
std::vector<std::vector<std::uint32_t>> sends(const ChosenAlgorithm& chosen, const Collective& collective,
                                              std::uint32_t ranks, std::uint32_t me, std::uint32_t lane = 0) {
  std::vector<std::vector<std::uint32_t>> peers;
  Group group;
  for (std::uint32_t i = 0;
       chosen.algorithm->expand({&collective, ranks, me, &chosen.options}, lane, i, group); ++i) {
    peers.emplace_back();
    for (const Step& step : group.steps()) {
      if (step.kind == StepKind::kSend) peers.back().push_back(step.peer);
    }
    group.clear();
  }
  return peers;
}

}  // namespace

TEST_CASE("swing: partners are 1, -1, 3, -5, 11 places away, for odd ranks the other way") {
  const ChosenAlgorithm swing = choose_collective_algorithm(CollectiveKind::kAllreduce, "swing");
  const Collective call{.kind = CollectiveKind::kAllreduce, .bytes = 3200, .element_bytes = 8};
  const auto of = [&](std::uint32_t rank) {
    std::vector<std::uint32_t> there;
    for (const auto& group : sends(swing, call, 32, rank)) there.push_back(group.at(0));
    return there;
  };
  CHECK(of(0) == std::vector<std::uint32_t>{1, 31, 3, 27, 11, 11, 27, 3, 31, 1});
  CHECK(of(7) == std::vector<std::uint32_t>{6, 8, 4, 12, 28, 28, 12, 4, 8, 6});
}

TEST_CASE("swing on a torus: the dimensions take turns; other parts begin elsewhere, or go the other way") {
  const ChosenAlgorithm swing =
      choose_collective_algorithm(CollectiveKind::kAllreduce, "swing:dims=4x8,parallel=0");
  const Collective call{.kind = CollectiveKind::kAllreduce, .bytes = 6400, .element_bytes = 8};
  const auto of = [&](std::uint32_t rank, std::uint32_t lane) {
    std::vector<std::uint32_t> there;
    for (const auto& group : sends(swing, call, 32, rank, lane)) there.push_back(group.at(0));
    there.resize(5);
    return there;
  };
  // From (0, 0): (1, 0), (0, 1), (-1, 0), (0, -1), (0, 3); and the other three.
  CHECK(of(0, 0) == std::vector<std::uint32_t>{8, 1, 24, 7, 3});
  CHECK(of(0, 1) == std::vector<std::uint32_t>{24, 7, 8, 1, 5});
  CHECK(of(0, 2) == std::vector<std::uint32_t>{1, 8, 7, 24, 3});
  CHECK(of(0, 3) == std::vector<std::uint32_t>{7, 24, 1, 8, 5});
  const auto objection = [](const char* spec, std::uint32_t ranks) {
    const ChosenAlgorithm chosen = choose_collective_algorithm(CollectiveKind::kAllreduce, spec);
    return chosen.algorithm->objection(chosen.options, ranks);
  };
  CHECK(objection("swing", 12) == "");
  CHECK(objection("swing:dims=0x0", 12) == "several dims must be powers of two");
  CHECK(objection("swing:dims=4x4", 32) == "dims must multiply to 32");
}

TEST_CASE("double binary tree: who is inside one tree is a leaf of the other, but for one of an odd number") {
  const ChosenAlgorithm trees = choose_collective_algorithm(CollectiveKind::kAllreduce, "double_binary_tree");
  const Collective call{.kind = CollectiveKind::kAllreduce, .bytes = 64, .element_bytes = 8};
  for (const std::uint32_t p : some_sizes()) {
    std::uint32_t inside_both = 0;
    for (std::uint32_t r = 0; r < p; ++r) {
      std::uint32_t inside = 0;
      for (const std::uint32_t lane : {0u, 1u}) {
        std::set<std::uint32_t> peers;
        for (const auto& group : sends(trees, call, p, r, lane)) peers.insert(group.begin(), group.end());
        CHECK(peers.size() <= 3);  // two children and the parent
        inside += peers.size() > 1 ? 1 : 0;
      }
      inside_both += inside == 2 ? 1 : 0;
    }
    CHECK(inside_both <= p % 2);
  }
}

TEST_CASE("torus ring: a rank talks to its neighbours in the torus only") {
  const ChosenAlgorithm chosen =
      choose_collective_algorithm(CollectiveKind::kAllreduce, "torus_ring:dims=2x3x4,parallel=0");
  const Collective call{.kind = CollectiveKind::kAllreduce, .bytes = 24 * 48, .element_bytes = 8};
  CHECK(chosen.lanes({&call, 24, 0, &chosen.options}) == 6);
  for (std::uint32_t r = 0; r < 24; ++r) {
    const std::uint32_t x = r / 12, y = r / 4 % 3, z = r % 4;
    const std::set<std::uint32_t> near = {(1 - x) * 12 + y * 4 + z, x * 12 + (y + 1) % 3 * 4 + z,
                                          x * 12 + (y + 2) % 3 * 4 + z, x * 12 + y * 4 + (z + 1) % 4,
                                          x * 12 + y * 4 + (z + 3) % 4};
    std::set<std::uint32_t> peers;
    for (std::uint32_t lane = 0; lane < 6; ++lane) {
      for (const auto& group : sends(chosen, call, 24, r, lane)) peers.insert(group.begin(), group.end());
    }
    CHECK(peers == near);
  }
  // Each part begins with another dimension or direction.
  std::vector<std::uint32_t> first;
  for (std::uint32_t lane = 0; lane < 6; ++lane) first.push_back(sends(chosen, call, 24, 0, lane)[0][0]);
  CHECK(first == std::vector<std::uint32_t>{12, 12, 4, 8, 1, 3});
}

TEST_CASE("torus ring: sizes that don't fit are refused") {
  const auto objection = [](const char* spec, std::uint32_t ranks) {
    const ChosenAlgorithm chosen = choose_collective_algorithm(CollectiveKind::kAllreduce, spec);
    return chosen.algorithm->objection(chosen.options, ranks);
  };
  CHECK(objection("torus_ring", 7) == "");
  CHECK(objection("torus_ring:dims=4x0x2", 48) == "");
  CHECK(objection("torus_ring:dims=4x4", 12) == "dims must multiply to 12");
  CHECK(objection("torus_ring:dims=5x0", 12) == "dims must multiply to 12");
  CHECK(objection("torus_ring:dims=50x0", 12) == "dims must multiply to 12");
  CHECK(objection("torus_ring:dims=0x0x0x0x0x0x0x0x0", 12) == "dims can be 8 at most");
  CHECK(objection("torus_ring:parallel=5", 12) == "parallel can be 4 at most, twice the dims");
}

TEST_CASE("hierarchical: only first ranks of nodes talk to other nodes") {
  const ChosenAlgorithm chosen =
      choose_collective_algorithm(CollectiveKind::kAllreduce, "hierarchical:ranks_per_node=4");
  const Collective call{.kind = CollectiveKind::kAllreduce, .bytes = 800, .element_bytes = 8};
  for (std::uint32_t r = 0; r < 22; ++r) {
    std::set<std::uint32_t> nodes;
    for (const auto& group : sends(chosen, call, 22, r)) {
      for (const std::uint32_t peer : group) nodes.insert(peer / 4);
    }
    CHECK((nodes == std::set<std::uint32_t>{r / 4}) == (r % 4 != 0));
  }
}

}  // namespace weft::goal
