// Messages and bytes of the algorithms that move the ranks' blocks, against formulas.
#include <bit>
#include <catch2/catch.hpp>

#include "tests/goal/collectives/cases.h"

namespace weft::goal {
namespace {

using Kind = CollectiveKind;

// Digits of j to this base that are not 0: the hops of a block that goes j places in hops of digits.
std::uint64_t nonzero_digits(std::uint64_t j, std::uint64_t base) {
  std::uint64_t count = 0;
  for (; j > 0; j /= base) count += j % base != 0;
  return count;
}
std::uint64_t hops(std::uint64_t p, std::uint64_t base) {
  std::uint64_t sum = 0;
  for (std::uint64_t j = 1; j < p; ++j) sum += nonzero_digits(j, base);
  return sum;
}
std::uint64_t deepest(std::uint64_t p) {
  std::uint64_t most = 0;
  for (std::uint64_t j = 1; j < p; ++j) most = std::max(most, nonzero_digits(j, 2));
  return most;
}

}  // namespace

TEST_CASE("reduce_scatter: counts") {
  const auto one_after_the_other = [](std::uint64_t p, std::uint64_t n) {
    return Counts{p - 1, p * (p - 1), p * (p - 1) * n, p * (p - 1) * n};
  };
  check_counts(Kind::kReduceScatter, "ring", one_after_the_other);
  check_counts(Kind::kReduceScatter, "pairwise", one_after_the_other);
  // 2^k ranks take part; the other r are folded in and handed their block.
  check_counts(Kind::kReduceScatter, "recursive_halving", [](std::uint64_t p, std::uint64_t n) {
    const std::uint64_t power = std::bit_floor(p), k = std::bit_width(p) - 1, r = p - power;
    return Counts{k + (r > 0 ? 2 : 0), power * k + 2 * r, p * (p - 1) * n + r * n, p * (p - 1) * n};
  });
  // In the end all blocks move, but those whose number reads the same backwards.
  check_counts(Kind::kReduceScatter, "butterfly", [](std::uint64_t p, std::uint64_t n) {
    const std::uint64_t power = std::bit_floor(p), k = std::bit_width(p) - 1, r = p - power;
    const std::uint64_t moved = p - (std::uint64_t{1} << (k + 1) / 2);
    return Counts{k + (r > 0 ? 1 : 0) + (moved > 0 ? 1 : 0), power * k + r + moved,
                  p * (p - 1) * n + moved * n, p * (p - 1) * n};
  });
  check_counts(Kind::kReduceScatter, "reduce_then_scatter", [](std::uint64_t p, std::uint64_t n) {
    return Counts{kAnyCount, 2 * (p - 1), (p - 1) * p * n + (p - 1) * n, (p - 1) * p * n};
  });
}

TEST_CASE("allgather: counts") {
  check_counts(Kind::kAllgather, "ring", [](std::uint64_t p, std::uint64_t n) {
    return Counts{p - 1, p * (p - 1), p * (p - 1) * n, 0};
  });
  check_counts(Kind::kAllgather, "bruck", [](std::uint64_t p, std::uint64_t n) {
    return Counts{ceil_log2(p), p * ceil_log2(p), p * (p - 1) * n, 0};
  });
  // No block comes twice, whatever the number of ranks.
  check_counts(Kind::kAllgather, "recursive_doubling", [](std::uint64_t p, std::uint64_t n) {
    const bool power = std::has_single_bit(p);
    return Counts{power ? ceil_log2(p) : kAnyCount, power ? p * ceil_log2(p) : kAnyCount, p * (p - 1) * n, 0};
  });
  check_counts(Kind::kAllgather, "neighbor_exchange", [](std::uint64_t p, std::uint64_t n) {
    const std::uint64_t rounds = p % 2 == 0 ? p / 2 : p - 1;
    return Counts{rounds, p * rounds, p * (p - 1) * n, 0};
  });
  check_counts(Kind::kAllgather, "linear", [](std::uint64_t p, std::uint64_t n) {
    return Counts{1, p * (p - 1), p * (p - 1) * n, 0};
  });
  check_counts(Kind::kAllgather, "gather_bcast", [](std::uint64_t p, std::uint64_t n) {
    return Counts{kAnyCount, 2 * (p - 1), (p - 1) * n + (p - 1) * p * n, 0};
  });
}

TEST_CASE("gather and scatter: counts") {
  for (const Kind kind : {Kind::kGather, Kind::kScatter}) {
    check_counts(kind, "linear", [](std::uint64_t p, std::uint64_t n) {
      return Counts{1, p - 1, (p - 1) * n, 0};
    });
    check_counts(kind, "binomial_tree", [](std::uint64_t p, std::uint64_t n) {
      return Counts{deepest(p), p - 1, hops(p, 2) * n, 0};
    });
  }
}

TEST_CASE("alltoall: counts") {
  check_counts(Kind::kAlltoall, "linear", [](std::uint64_t p, std::uint64_t n) {
    return Counts{1, p * (p - 1), p * (p - 1) * n, 0};
  });
  for (const char* spec : {"pairwise", "pairwise_xor", "spread_out:parallel=1", "windowed:parallel=1"}) {
    check_counts(Kind::kAlltoall, spec, [](std::uint64_t p, std::uint64_t n) {
      return Counts{p - 1, p * (p - 1), p * (p - 1) * n, 0};
    });
  }
  for (const char* spec : {"spread_out:parallel=3", "windowed:parallel=3"}) {
    check_counts(Kind::kAlltoall, spec, [](std::uint64_t p, std::uint64_t n) {
      return Counts{(p + 1) / 3, p * (p - 1), p * (p - 1) * n, 0};
    });
  }
  check_counts(Kind::kAlltoall, "bruck", [](std::uint64_t p, std::uint64_t n) {
    return Counts{ceil_log2(p), p * ceil_log2(p), p * hops(p, 2) * n, 0};
  });
  check_counts(Kind::kAlltoall, "bruck:radix=4", [](std::uint64_t p, std::uint64_t n) {
    std::uint64_t rounds = 0, messages = 0;
    for (std::uint64_t unit = 1; unit < p; unit *= 4, ++rounds)
      messages += std::min<std::uint64_t>(3, (p - 1) / unit);
    return Counts{rounds, p * messages, p * hops(p, 4) * n, 0};
  });
}

}  // namespace weft::goal
