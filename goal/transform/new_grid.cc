#include "goal/transform/new_grid.h"

#include <algorithm>

namespace weft::goal {
namespace {

// How far why_not() looks for a number of ranks that fits.
constexpr Rank kNear = 4096;

bool works(const RankGrid& grid, const std::vector<std::uint32_t>& dims, Rank ranks) {
  std::uint64_t product = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    product *= dims[d];
    if (product > ranks) return false;
    if (dims[d] != grid.dims[d] && (!grid.can_grow(d) || dims[d] < grid.least(d))) return false;
  }
  return product == ranks;
}

std::string text_of(const std::vector<std::uint32_t>& dims) {
  std::string text;
  for (const std::uint32_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

std::optional<RankGrid> of_dims(const RankGrid& grid, const std::vector<std::uint32_t>& dims, Rank ranks) {
  if (dims.size() != grid.dims.size() || !works(grid, dims, ranks)) return std::nullopt;
  RankGrid result = grid;
  result.dims = dims;
  return result;
}

}  // namespace

std::optional<RankGrid> new_grid(const RankGrid& grid, Rank ranks, const std::vector<std::uint32_t>& dims) {
  if (!dims.empty()) return of_dims(grid, dims, ranks);
  std::optional<RankGrid> result;
  double best = 0;
  for (const std::vector<std::uint32_t>& some : factorizations(ranks, grid.dims.size())) {
    if (!works(grid, some, ranks)) continue;
    double least = 1e300, most = 0;
    for (std::size_t d = 0; d < some.size(); ++d) {
      const double growth = static_cast<double>(some[d]) / grid.dims[d];
      least = std::min(least, growth);
      most = std::max(most, growth);
    }
    if (result && most / least >= best) continue;
    best = most / least;
    result = of_dims(grid, some, ranks);
  }
  return result;
}

std::string why_not(const RankGrid& grid, Rank ranks, const std::vector<std::uint32_t>& dims) {
  std::string why = std::to_string(ranks) + " ranks can't be laid out like the program's " + grid.text();
  if (!dims.empty()) {
    why = "the program's " + grid.text() + " can't be made " + text_of(dims);
    if (dims.size() != grid.dims.size()) {
      return why + ": as many dimensions must be given (" + std::to_string(grid.dims.size()) + ")";
    }
    std::uint64_t product = 1;
    for (const std::uint32_t dim : dims) product = std::min<std::uint64_t>(product * dim, 1ULL << 40);
    if (product != ranks) return why + ", which is another number of ranks than " + std::to_string(ranks);
  }
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    why +=
        "; dimension " + std::to_string(d + 1) +
        (grid.can_grow(d) ? " may have any length from " + std::to_string(std::max(grid.least(d), 2u)) + " on"
                          : " stays at " + std::to_string(grid.dims[d]) +
                                (grid.dims[d] == 2 ? ", as no rank in the trace lies between its ends" : ""));
  }
  std::string near;
  for (const bool up : {false, true}) {
    for (Rank step = 1; step <= kNear; ++step) {
      if (!up && step + 2 > ranks) break;
      const std::optional<RankGrid> fits = new_grid(grid, up ? ranks + step : ranks - step, {});
      if (!fits) continue;
      near +=
          (near.empty() ? "" : " and ") + std::to_string(fits->ranks()) + " (" + text_of(fits->dims) + ")";
      break;
    }
  }
  return near.empty() ? why : why + "; next to it fit " + near;
}

}  // namespace weft::goal
