// The built-in rule of switches, as cheap as a hop can have it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::routing {

// One 64×64-bit multiplication whose halves are folded spreads both words well (the mixing step of wyhash).
inline std::uint32_t hash_word(std::uint32_t entropy, std::uint64_t salt) {
  const std::uint64_t word = (entropy + 1) * 0x9E3779B97F4A7C15ULL ^ salt;
  const auto product = static_cast<unsigned __int128>(word) * 0xD6E8FEB86659FD93ULL;
  const auto hash = static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  return static_cast<std::uint32_t>(hash >> 32);
}

// Reduces a packet's entropy to an index in [0, count), with the switch's salt so that the tiers of a network
// choose independently. REQUIRES: count > 0 and below 2^32.
inline std::uint32_t hash_choice(std::uint32_t entropy, std::uint64_t salt, std::size_t count) {
  return static_cast<std::uint32_t>(std::uint64_t{hash_word(entropy, salt)} * count >> 32);
}

}  // namespace weft::routing
