#include "goal/transform/grid.h"

#include <algorithm>

namespace weft::goal {

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
    if (periodic[d] && result[d] > size / 2) result[d] -= size;
    if (periodic[d] && result[d] < -size / 2) result[d] += size;
    if (std::abs(result[d]) > static_cast<std::int64_t>(reach)) return false;
  }
  return true;
}

Rank RankGrid::neighbour(Rank from, const Place& offset) const {
  Place at = place(from);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t size = dims[d];
    at[d] += offset[d];
    if (periodic[d]) at[d] = (at[d] % size + size) % size;
    if (at[d] < 0 || at[d] >= size) return kAny;
  }
  return rank(at);
}

std::uint32_t RankGrid::role(Rank rank) const {
  const Place at = place(rank);
  std::uint32_t role = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto low = static_cast<std::uint32_t>(at[d]), high = dims[d] - 1 - low;
    const std::uint32_t of_dim = periodic[d]    ? 0
                                 : low < reach  ? 1 + low
                                 : high < reach ? 1 + reach + high
                                                : 0;
    role = role * (2 * reach + 1) + of_dim;
  }
  return role;
}

Rank RankGrid::model(const RankGrid& larger, Rank other) const {
  Place at = larger.place(other);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t size = dims[d], of_larger = larger.dims[d], edge = periodic[d] ? 0 : reach;
    if (at[d] < edge) continue;
    if (at[d] >= of_larger - edge) {
      at[d] -= of_larger - size;
    } else {
      at[d] = edge + (at[d] - edge) % std::max<std::int64_t>(1, size - 2 * edge);
    }
  }
  return rank(at);
}

std::string RankGrid::text() const {
  const bool all = std::all_of(periodic.begin(), periodic.end(), [](bool p) { return p; });
  const bool none = std::none_of(periodic.begin(), periodic.end(), [](bool p) { return p; });
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    text += (d == 0 ? "" : "x") + std::to_string(dims[d]);
    if (!all && !none && periodic[d]) text += "(ring)";
  }
  return text + (all ? (dims.size() == 1 ? " ring" : " torus") : dims.size() == 1 ? " line" : " grid");
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
