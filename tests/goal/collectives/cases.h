// Every listed algorithm of a kind on data, over many communicator sizes, sizes of data, roots and
// parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/goal/collectives/interpreter.h"

namespace weft::goal {

// Specs of all listed algorithms of a kind: each with its defaults, and with other values of its parameters.
std::vector<std::string> algorithm_specs(CollectiveKind kind);

// Runs them all; reports the first few cases in which one does not do what the collective promises.
void check_every_algorithm(CollectiveKind kind);

// Communicator sizes for tests of formulas: every small one, powers of two, some beside them, primes.
std::vector<std::uint32_t> some_sizes();

// What a run must count, all ranks together. kAnyCount: not told.
inline constexpr std::uint64_t kAnyCount = ~std::uint64_t{0};
struct Counts {
  std::uint64_t rounds = kAnyCount, messages = kAnyCount, bytes = kAnyCount, combined = kAnyCount;
};
// Holds the counts of an algorithm against a formula of (ranks, bytes of the call), for all some_sizes(), one
// element of 8 bytes per rank, and more. `even`: only bytes that both the ranks and twice the largest power
// of two below divide into equal parts of whole elements.
void check_counts(CollectiveKind kind, const std::string& spec,
                  Counts (*formula)(std::uint64_t p, std::uint64_t n), bool even = false);

// The bits needed to number n ranks: log2, rounded up.
std::uint32_t ceil_log2(std::uint64_t n);

}  // namespace weft::goal
