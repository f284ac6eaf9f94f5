// Random numbers that do not depend on the order in which their users run.
#pragma once

#include <cstdint>

namespace weft {

// The finalizer of SplitMix64: a bijection of 64-bit words that passes BigCrush when fed with a counter.
// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ x >> 31;
}

// One entity's stream: a counter-based generator keyed by (seed, entity, purpose). Copyable, 16 bytes.
class RandomStream {
 public:
  constexpr RandomStream() = default;
  constexpr RandomStream(std::uint64_t seed, std::uint64_t entity, std::uint64_t purpose = 0)
      : key_(mix64(mix64(seed + 0x9E3779B97F4A7C15ULL) ^ mix64(entity * 0xD1B54A32D192ED03ULL + purpose))) {}
  constexpr std::uint64_t next() { return mix64(key_ + 0x9E3779B97F4A7C15ULL * ++counter_); }
  // Uniform in [0, bound), by multiplication (Lemire 2019; the bias is below bound / 2^64). REQUIRES: bound >
  // 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(next()) * bound >> 64);
  }
  // Uniform in [0, 1) with 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace weft
