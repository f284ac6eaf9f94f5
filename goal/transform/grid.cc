#include "goal/transform/grid.h"

#include <algorithm>

namespace weft::goal {

Rank RankGrid::ranks() const {
  Rank product = 1;
  for (const std::uint32_t dim : dims) product *= dim;
  return product;
}

RankGrid::Place RankGrid::place(Rank rank) const {
  Place place{};
  for (std::size_t d = dims.size(); d-- > 0;) {
    place[d] = rank % dims[d];
    rank /= dims[d];
  }
  return place;
}

Rank RankGrid::rank(const Place& place) const {
  std::uint64_t rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + static_cast<std::uint64_t>(place[d]);
  return static_cast<Rank>(rank);
}

bool RankGrid::offset(Rank from, Rank to, Place& result) const {
  const Place a = place(from), b = place(to);
  result = {};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t size = dims[d];
    result[d] = b[d] - a[d];
    if (axes[d] == Axis::kFixed) continue;
    if (wraps(d) && result[d] > size / 2) result[d] -= size;
    if (wraps(d) && result[d] < -size / 2) result[d] += size;
    if (std::abs(result[d]) > static_cast<std::int64_t>(reach[d])) return false;
  }
  return true;
}

Rank RankGrid::neighbour(Rank from, const Place& offset) const {
  Place at = place(from);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t size = dims[d];
    at[d] += offset[d];
    if (wraps(d)) at[d] = (at[d] % size + size) % size;
    if (at[d] < 0 || at[d] >= size) return kAny;
  }
  return rank(at);
}

std::uint64_t RankGrid::role(Rank rank) const {
  const Place at = place(rank);
  std::uint64_t role = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto low = static_cast<std::uint32_t>(at[d]), high = dims[d] - 1 - low;
    std::uint32_t of_dim = 0;
    if (axes[d] == Axis::kFixed) of_dim = low;
    if (axes[d] == Axis::kLine) of_dim = low < reach[d] ? 1 + low : high < reach[d] ? 1 + reach[d] + high : 0;
    if (axes[d] == Axis::kRooted) of_dim = low == 0 ? 1 : 0;
    role = role * (axes[d] == Axis::kFixed ? dims[d] : 2 * reach[d] + 1) + of_dim;
  }
  return role;
}

std::int64_t RankGrid::moved(const RankGrid& other, std::size_t dim, std::int64_t coordinate) const {
  const std::int64_t size = dims[dim];
  const bool at_end = axes[dim] == Axis::kLine && coordinate >= size - static_cast<std::int64_t>(reach[dim]);
  return at_end ? coordinate + other.dims[dim] - size : coordinate;
}

Rank RankGrid::model(const RankGrid& larger, Rank other) const {
  Place at = larger.place(other);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (axes[d] == Axis::kFixed) continue;
    const std::int64_t size = dims[d], of_larger = larger.dims[d];
    const std::int64_t end = axes[d] == Axis::kLine ? reach[d] : 0;
    const std::int64_t begin = axes[d] == Axis::kRooted ? 1 : end;
    if (at[d] < begin) continue;
    if (at[d] >= of_larger - end) {
      at[d] -= of_larger - size;
    } else {
      at[d] = begin + (at[d] - begin) % std::max<std::int64_t>(1, size - begin - end);
    }
  }
  return rank(at);
}

bool RankGrid::can_grow(std::size_t dim) const {
  const std::uint32_t least = std::max(2 * reach[dim] + 1, axes[dim] == Axis::kRooted ? 2u : 1u);
  return axes[dim] != Axis::kFixed && dims[dim] >= least;
}

std::uint32_t RankGrid::least(std::size_t dim) const {
  switch (axes[dim]) {
    case Axis::kFixed:
      return dims[dim];
    case Axis::kLine:
      return std::max(1u, 2 * reach[dim]);
    case Axis::kRing:
    case Axis::kRooted:
      break;
  }
  return 2 * reach[dim] + 1;
}

std::string RankGrid::text() const {
  const auto all = [&](Axis axis) {
    return std::all_of(axes.begin(), axes.end(), [&](Axis a) { return a == axis; });
  };
  const bool rings = all(Axis::kRing);
  const bool reaches = std::any_of(reach.begin(), reach.end(), [](std::uint32_t r) { return r > 0; });
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    text += (d == 0 ? "" : "x") + std::to_string(dims[d]);
    if (axes[d] == Axis::kFixed) text += "(fixed)";
    if (axes[d] == Axis::kRooted) text += "(rooted)";
    if (!rings && reach[d] > 0 && axes[d] == Axis::kRing) text += "(ring)";
  }
  if (rings && reaches) return text + (dims.size() == 1 ? " ring" : " torus");
  return text + (dims.size() == 1 ? " line" : " grid");
}

std::vector<std::vector<std::uint32_t>> factorizations(std::uint32_t ranks, std::size_t count) {
  if (count == 1) return {{ranks}};
  std::vector<std::vector<std::uint32_t>> result;
  for (std::uint32_t first = 2; first <= ranks / 2; ++first) {
    if (ranks % first != 0) continue;
    for (std::vector<std::uint32_t>& rest : factorizations(ranks / first, count - 1)) {
      if (rest[0] < 2) continue;
      rest.insert(rest.begin(), first);
      result.push_back(std::move(rest));
    }
  }
  return result;
}

}  // namespace weft::goal
