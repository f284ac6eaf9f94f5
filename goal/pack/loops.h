// Finds what repeats in a rank's sequence of operations. For this folder only.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::goal::pack {

// Within tokens; all below are symbols.
inline constexpr std::uint32_t kLoop =
    0xFFFFFFFEu;  // followed by the number of rounds (2 or more) and the body
inline constexpr std::uint32_t kLoopEnd = 0xFFFFFFFFu;  // of the innermost loop
inline constexpr std::size_t kMaxLoopDepth = 8;

// Writes `symbols` (each below 2^31) to `tokens` as a nest of loops: unrolled, they are the symbols again.
// Repetition that follows at once upon what it repeats becomes a loop, the shortest first; then loops of
// loops, in up to kMaxLoopDepth passes over what the last one left, in the manner of the descriptors of M.
// Noeth et al., "ScalaTrace: Scalable compression and replay of communication traces for high-performance
// computing", JPDC 2009. Time is linear. A body has at most 2^20 tokens.
void find_loops(const std::vector<std::uint32_t>& symbols, std::vector<std::uint32_t>& tokens);

}  // namespace weft::goal::pack
