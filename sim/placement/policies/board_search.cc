#include "sim/placement/policies/board_search.h"

#include <bit>
#include <utility>

namespace weft::placement {
namespace {

using Rows = std::vector<std::uint64_t>;  // a bit for each row

class BoardSearch {
 public:
  BoardSearch(std::uint32_t x, std::uint32_t y, std::span<const std::uint8_t> free, std::uint32_t columns,
              std::uint32_t rows, std::uint64_t& steps)
      : columns_(columns), rows_(rows), steps_(steps), free_(x, Rows((y + 63) / 64, 0)) {
    for (std::uint32_t u = 0; u < x; ++u) {
      for (std::uint32_t v = 0; v < y; ++v) {
        if (free[std::size_t{u} * y + v] != 0) free_[u][v / 64] |= std::uint64_t{1} << v % 64;
      }
    }
  }

  std::optional<BoardSet> run() {
    std::vector<std::uint32_t> all(free_.size());
    for (std::uint32_t u = 0; u < all.size(); ++u) all[u] = u;
    Rows every(free_[0].size(), ~std::uint64_t{0});
    if (!extend(every, all)) return std::nullopt;
    return result_;
  }

 private:
  static std::uint32_t count(const Rows& rows) {
    std::uint32_t bits = 0;
    for (const std::uint64_t word : rows) bits += static_cast<std::uint32_t>(std::popcount(word));
    return bits;
  }

  // Adds columns from `candidates` to those chosen, whose boards are free in the rows of `common`.
  bool extend(const Rows& common, const std::vector<std::uint32_t>& candidates) {
    if (result_.columns.size() == columns_) {
      for (std::uint32_t v = 0; v < common.size() * 64 && result_.rows.size() < rows_; ++v) {
        if (common[v / 64] >> v % 64 & 1) result_.rows.push_back(v);
      }
      return true;
    }
    // Only columns that leave rows enough can be added, now or later.
    std::vector<std::pair<std::uint32_t, Rows>> left;
    for (const std::uint32_t u : candidates) {
      if (steps_ == 0) return false;
      --steps_;
      Rows both = common;
      for (std::size_t w = 0; w < both.size(); ++w) both[w] &= free_[u][w];
      if (count(both) >= rows_) left.emplace_back(u, std::move(both));
    }
    const std::size_t missing = columns_ - result_.columns.size();
    for (std::size_t i = 0; i + missing <= left.size(); ++i) {
      std::vector<std::uint32_t> later;
      for (std::size_t k = i + 1; k < left.size(); ++k) later.push_back(left[k].first);
      result_.columns.push_back(left[i].first);
      if (extend(left[i].second, later)) return true;
      result_.columns.pop_back();
      if (steps_ == 0) return false;
    }
    return false;
  }

  const std::uint32_t columns_, rows_;
  std::uint64_t& steps_;
  std::vector<Rows> free_;  // by column
  BoardSet result_;
};

}  // namespace

std::optional<BoardSet> find_boards(std::uint32_t x, std::uint32_t y, std::span<const std::uint8_t> free,
                                    std::uint32_t columns, std::uint32_t rows, std::uint64_t& steps) {
  if (columns > x || rows > y) return std::nullopt;
  return BoardSearch(x, y, free, columns, rows, steps).run();
}

}  // namespace weft::placement
