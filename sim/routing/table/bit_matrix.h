// Matrices of 64×64 bits, which turn what is known by switch into what is known by destination.
#pragma once

#include <array>
#include <cstdint>

namespace weft::routing {

using BitMatrix = std::array<std::uint64_t, 64>;  // bit c of word r: row r, column c

// Swaps ever smaller blocks beside the diagonal (H. S. Warren, Hacker's Delight, 7-3).
inline void transpose(BitMatrix& matrix) {
  std::uint64_t low = 0x00000000FFFFFFFFULL;
  for (std::uint32_t size = 32; size != 0; size >>= 1, low ^= low << size) {
    for (std::uint32_t r = 0; r < 64; r = ((r | size) + 1) & ~size) {
      const std::uint64_t differ = ((matrix[r] >> size) ^ matrix[r | size]) & low;
      matrix[r] ^= differ << size;
      matrix[r | size] ^= differ;
    }
  }
}

}  // namespace weft::routing
