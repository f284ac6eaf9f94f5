// Distances of all switches to a destination, two bits each: enough to tell which of its neighbours are
// nearer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/table/parallel_search.h"

namespace weft::routing {

// A column has the switches' distances modulo 3, kNoWay where there is none, four in a byte.
inline constexpr std::uint32_t kNoWay = 3;

inline std::uint32_t distance_in(const std::uint8_t* column, std::uint32_t s) {
  return column[s / 4] >> (s % 4 * 2) & 3;
}
inline std::size_t column_bytes(std::uint32_t switches) { return (std::size_t{switches} + 31) / 32 * 8; }

// Writes the columns of the first destinations of a search, each where `columns` says.
void write_columns(std::span<const Distances> distances, std::span<std::uint8_t* const> columns);

}  // namespace weft::routing
