// Ranks as points of a grid of any dimensions, as MPI's Cartesian communicators number them: the last
// coordinate varies fastest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

struct Grid {
  std::vector<std::uint32_t> dims;  // their product: the number of ranks

  std::vector<std::uint32_t> coordinates(Rank r) const;
  // REQUIRES: one coordinate within its dimension for each.
  Rank rank(std::span<const std::uint32_t> coordinates) const;
  // The rank `offset` away from one at `from`; around the ends if periodic, else none beyond them.
  std::optional<Rank> neighbor(std::span<const std::uint32_t> from, std::span<const int> offset,
                               bool periodic) const;
};

// A grid that is as near to a cube as the divisors of n allow: each dimension is the largest divisor of what
// is left that is not above its root. Largest first. (MPI_Dims_create asks for the same; MPI 4.0,
// section 8.5.) REQUIRES: n > 0, dimensions > 0.
Grid balanced_grid(std::uint32_t n, std::uint32_t dimensions);

// "[4,4,8]" for a grid.
std::string to_text(const Grid& grid);

// The elements of a parameter written as "[a,b]", or as "a" alone. Throws InputError for an empty one, or
// brackets that don't match.
std::vector<std::string_view> list_of(const Parameters& parameters, std::string_view name);
// Reads whole numbers from 1 to 2^32 - 1, which may also be written as "4x4x8". Throws InputError for others.
std::vector<std::uint32_t> numbers_of(const Parameters& parameters, std::string_view name);

// The parameter `dims`, "[4,4,8]" or the number of dimensions: "3d" asks for balanced_grid(). Throws
// InputError, with a grid that would do, unless it has from `least` to `most` dimensions, which multiply to
// `ranks`.
ParameterSpec dims_parameter(const char* default_value);
Grid grid_of(const Parameters& parameters, std::uint32_t ranks, std::uint32_t least, std::uint32_t most);

}  // namespace weft::goal
