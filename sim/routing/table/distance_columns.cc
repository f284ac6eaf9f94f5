#include "sim/routing/table/distance_columns.h"

#include <algorithm>

#include "sim/routing/table/bit_matrix.h"

namespace weft::routing {
namespace {

// The bits of a 32-bit word at the even places of a longer one.
std::uint64_t spread(std::uint64_t bits) {
  bits &= 0x00000000FFFFFFFFULL;
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFFULL;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FFULL;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0FULL;
  bits = (bits | bits << 2) & 0x3333333333333333ULL;
  return (bits | bits << 1) & 0x5555555555555555ULL;
}

// Written byte by byte, so that it is the same on every machine.
void write(std::uint64_t word, std::uint8_t* to) {
  for (std::uint32_t i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

}  // namespace

void write_columns(std::span<const Distances> distances, std::span<std::uint8_t* const> columns) {
  BitMatrix low, high;
  for (std::size_t first = 0; first < distances.size(); first += 64) {
    const std::size_t switches = std::min<std::size_t>(64, distances.size() - first);
    low.fill(Distances::kNowhere);
    high.fill(Distances::kNowhere);
    for (std::size_t i = 0; i < switches; ++i) {
      low[i] = distances[first + i].low;
      high[i] = distances[first + i].high;
    }
    transpose(low);
    transpose(high);
    for (std::size_t d = 0; d < columns.size(); ++d) {
      std::uint8_t* const to = columns[d] + first / 4;
      write(spread(low[d]) | spread(high[d]) << 1, to);
      if (switches > 32) write(spread(low[d] >> 32) | spread(high[d] >> 32) << 1, to + 8);
    }
  }
}

}  // namespace weft::routing
