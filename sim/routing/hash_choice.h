// The built-in rule of switches, as cheap as a hop can have it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::routing {

// Reduces a packet's entropy to an index in [0, count), with the switch's salt so that the tiers of a network
// choose independently. One 64×64-bit multiplication whose halves are folded spreads both words well (the
// mixing step of wyhash). REQUIRES: count > 0.
inline std::uint32_t hash_choice(std::uint32_t entropy, std::uint64_t salt, std::size_t count) {
  const std::uint64_t word = (entropy + 1) * 0x9E3779B97F4A7C15ULL ^ salt;
  const auto product = static_cast<unsigned __int128>(word) * 0xD6E8FEB86659FD93ULL;
  const auto hash = static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  return static_cast<std::uint32_t>((hash >> 32) * count >> 32);
}

}  // namespace weft::routing
