// Mixing of 64-bit numbers, for tables and for identities that ranks compute alike.
#pragma once

#include <cstdint>

namespace weft::trace {

// The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t combine(std::uint64_t hash, std::uint64_t value) {
  return mix(hash * 0x9E3779B97F4A7C15u + value + 1);
}

}  // namespace weft::trace
