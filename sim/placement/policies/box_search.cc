#include "sim/placement/policies/box_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weft::placement {
namespace {

using Map = std::vector<std::uint8_t>;  // by point: 1 where a box of the size at hand may begin

class BoxSearch {
 public:
  BoxSearch(const GridShape& grid, const BoxRequest& request, std::uint64_t& steps)
      : grid_(grid), request_(request), most_(request.most), steps_(steps) {
    // What dimensions from d on multiply a volume by at most.
    most_behind_.assign(grid.size.size() + 1, 1);
    stride_.assign(grid.size.size(), 1);
    for (std::size_t d = grid.size.size(); d-- > 0;) {
      most_behind_[d] = most_behind_[d + 1] * (request.size ? (*request.size)[d] : grid.size[d]);
      if (d + 1 < grid.size.size()) stride_[d] = stride_[d + 1] * grid.size[d + 1];
    }
  }

  std::optional<Box> run(std::span<const std::uint8_t> free) {
    size_.assign(grid_.size.size(), 1);
    extend(0, 1, Map(free.begin(), free.end()));
    return best_;
  }

 private:
  // All sizes of dimensions d and later; `starts` allows for those before.
  void extend(std::size_t d, std::uint64_t volume, const Map& starts) {
    if (d == grid_.size.size()) return offer(volume, starts);
    Map at = starts;
    const std::uint32_t least = request_.size ? (*request_.size)[d] : 1;
    const std::uint32_t last = request_.size ? (*request_.size)[d] : grid_.size[d];
    for (std::uint32_t length = 1; length <= last && volume * length <= most_; ++length) {
      if (steps_ < at.size()) {
        steps_ = 0;
        return;
      }
      steps_ -= at.size();
      if (length > 1) narrow(d, length - 1, starts, at);
      if (std::find(at.begin(), at.end(), 1) == at.end()) return;
      size_[d] = length;
      if (length >= least && volume * length * most_behind_[d + 1] >= request_.least)
        extend(d + 1, volume * length, at);
    }
  }

  // Leaves only starts whose point `offset` further along dimension d is one too.
  void narrow(std::size_t d, std::uint32_t offset, const Map& starts, Map& at) const {
    const std::size_t stride = stride_[d], line = stride * grid_.size[d], shift = stride * offset;
    for (std::size_t begin = 0; begin < at.size(); begin += line) {
      for (std::size_t i = 0; i < line - shift; ++i) at[begin + i] &= starts[begin + i + shift];
      for (std::size_t i = line - shift; i < line; ++i) {
        at[begin + i] &= grid_.wraps[d] ? starts[begin + i + shift - line] : std::uint8_t{0};
      }
    }
  }

  void offer(std::uint64_t volume, const Map& starts) {
    if (volume < request_.least) return;
    const auto sides = std::accumulate(size_.begin(), size_.end(), std::uint64_t{0});
    const auto key = std::tuple(volume, sides, size_);
    if (best_ && key >= best_key_) return;
    auto start = static_cast<std::size_t>(std::find(starts.begin(), starts.end(), 1) - starts.begin());
    Box box{{}, size_};
    for (std::size_t d = 0; d < size_.size(); ++d) {
      box.first.push_back(static_cast<std::uint32_t>(start / stride_[d]));
      start %= stride_[d];
    }
    best_ = std::move(box);
    best_key_ = key;
    most_ = volume;
  }

  const GridShape& grid_;
  const BoxRequest& request_;
  std::uint64_t most_;
  std::uint64_t& steps_;
  std::vector<std::uint64_t> most_behind_;
  std::vector<std::size_t> stride_;
  std::vector<std::uint32_t> size_;
  std::optional<Box> best_;
  std::tuple<std::uint64_t, std::uint64_t, std::vector<std::uint32_t>> best_key_;
};

}  // namespace

std::uint32_t GridShape::points() const {
  return std::accumulate(size.begin(), size.end(), 1U, std::multiplies<>());
}

std::uint64_t Box::volume() const {
  return std::accumulate(size.begin(), size.end(), std::uint64_t{1}, std::multiplies<>());
}

std::optional<Box> find_box(const GridShape& grid, std::span<const std::uint8_t> free,
                            const BoxRequest& request, std::uint64_t& steps) {
  if (request.size) {
    for (std::size_t d = 0; d < grid.size.size(); ++d) {
      if ((*request.size)[d] > grid.size[d]) return std::nullopt;
    }
  }
  return BoxSearch(grid, request, steps).run(free);
}

std::vector<std::uint32_t> points_of(const GridShape& grid, const Box& box,
                                     std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> points;
  std::vector<std::uint32_t> at(box.size.size(), 0);  // by dimension, within the box
  for (std::uint64_t i = 0; i < box.volume(); ++i) {
    std::uint32_t point = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      point = point * grid.size[d] + (box.first[d] + at[d]) % grid.size[d];
    }
    points.push_back(point);
    for (std::size_t k = order.size(); k-- > 0;) {
      if (++at[order[k]] < box.size[order[k]]) break;
      at[order[k]] = 0;
    }
  }
  return points;
}

}  // namespace weft::placement
