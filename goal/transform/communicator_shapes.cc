#include "goal/transform/communicator_shapes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::goal {
namespace {

using Extent = CommunicatorShape::Extent;

// The coordinates of a dimension that an extent holds, seen from one that has `own`; ascending.
std::vector<std::int64_t> coordinates(const Extent& extent, std::int64_t own, std::int64_t size) {
  if (extent.own) return {own};
  if (!extent.of.empty()) return extent.of;
  if (extent.step > 0) {
    std::vector<std::int64_t> some;
    for (std::int64_t at = own % extent.step; at < size; at += extent.step) some.push_back(at);
    return some;
  }
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(std::max<std::int64_t>(0, size - extent.low - extent.high)));
  std::iota(all.begin(), all.end(), extent.low);
  return all;
}

// The extent that holds just these coordinates of a dimension, or nothing.
std::optional<Extent> extent_of(const std::vector<std::int64_t>& held, Axis axis, std::int64_t size) {
  if (held.size() == 1 && size > 1) return Extent{.own = true};
  if (axis == Axis::kFixed) return Extent{.of = held};
  const std::int64_t step = held.size() > 1 ? held[1] - held[0] : 1;
  if (axis == Axis::kRing && step > 1) {
    const Extent every{.step = step};
    if (size % step == 0 && coordinates(every, held[0], size) == held) return every;
  }
  const bool gap = held.back() - held.front() + 1 != static_cast<std::int64_t>(held.size());
  const Extent extent{.low = held.front(), .high = size - 1 - held.back()};
  const std::int64_t most_low = axis == Axis::kRing ? 0 : axis == Axis::kRooted ? 1 : size;
  const std::int64_t most_high = axis == Axis::kLine ? size : 0;
  if (gap || extent.low > most_low || extent.high > most_high) return std::nullopt;
  return extent;
}

std::optional<CommunicatorShape> shape_of(const std::vector<Rank>& ranks, const RankGrid& grid) {
  CommunicatorShape shape;
  std::size_t product = 1;
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    std::vector<bool> has(grid.dims[d], false);
    for (const Rank r : ranks) has[static_cast<std::size_t>(grid.place(r)[d])] = true;
    std::vector<std::int64_t> held;
    for (std::size_t c = 0; c < has.size(); ++c) {
      if (has[c]) held.push_back(static_cast<std::int64_t>(c));
    }
    const std::optional<Extent> extent = extent_of(held, grid.axes[d], grid.dims[d]);
    if (!extent) return std::nullopt;
    shape.extents[d] = *extent;
    product *= held.size();
  }
  if (product != ranks.size()) return std::nullopt;
  do {
    for (const bool backward : {false, true}) {
      shape.backward = backward;
      if (members(shape, grid, ranks[0]) == ranks) return shape;
    }
  } while (std::next_permutation(shape.order.begin(),
                                 shape.order.begin() + static_cast<std::ptrdiff_t>(grid.dims.size())));
  return std::nullopt;
}

}  // namespace

std::vector<Rank> members(const CommunicatorShape& shape, const RankGrid& grid, Rank rank) {
  const RankGrid::Place own = grid.place(rank);
  std::vector<RankGrid::Place> places{{}};
  for (std::size_t at = 0; at < grid.dims.size(); ++at) {
    const std::size_t d = shape.order[at];
    const std::vector<std::int64_t> held = coordinates(shape.extents[d], own[d], grid.dims[d]);
    std::vector<RankGrid::Place> longer;
    longer.reserve(places.size() * held.size());
    for (const RankGrid::Place& place : places) {
      for (const std::int64_t coordinate : held) {
        longer.push_back(place);
        longer.back()[d] = coordinate;
      }
    }
    places = std::move(longer);
  }
  std::vector<Rank> ranks;
  ranks.reserve(places.size());
  for (const RankGrid::Place& place : places) ranks.push_back(grid.rank(place));
  if (shape.backward) std::reverse(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<Rank> members(const Graph& graph, std::uint32_t comm) {
  std::vector<Rank> ranks = graph.communicators()[comm].ranks;
  if (!ranks.empty()) return ranks;
  ranks.resize(graph.ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

CommunicatorShapes::CommunicatorShapes(const Graph& graph, const RankGrid& grid) {
  std::map<std::vector<Rank>, std::uint32_t> copies;
  for (std::uint32_t c = 0; c < graph.communicators().size(); ++c) {
    const std::vector<Rank> ranks = members(graph, c);
    std::optional<CommunicatorShape> shape = shape_of(ranks, grid);
    if (!shape) {
      failure_ = "communicator " + std::to_string(c) + " '" + graph.communicators()[c].name + "' of " +
                 std::to_string(ranks.size()) + " ranks is no row, column, plane or block of it";
      return;
    }
    shape->copy = copies[ranks]++;
    const auto known = std::find(shapes_.begin(), shapes_.end(), *shape);
    numbers_.push_back(static_cast<std::uint32_t>(known - shapes_.begin()));
    if (known != shapes_.end()) continue;
    shapes_.push_back(std::move(*shape));
    firsts_.push_back(c);
  }
}

}  // namespace weft::goal
