#include "goal/import/dumpi/objects.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::goal {
namespace {

// Larger sizes and products are chance, not bytes.
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

bool has(const DumpiGroups::Members& members, Rank rank) {
  return std::find(members.begin(), members.end(), rank) != members.end();
}

// The positions that ranges of first, last and stride name, at most `most`.
std::vector<std::uint32_t> expanded(const std::vector<std::vector<std::uint32_t>>& ranges, std::size_t most) {
  std::vector<std::uint32_t> positions;
  for (const std::vector<std::uint32_t>& range : ranges) {
    if (range.size() != 3) continue;
    const auto first = static_cast<std::int32_t>(range[0]), last = static_cast<std::int32_t>(range[1]);
    const auto stride = static_cast<std::int32_t>(range[2]);
    if (stride == 0) continue;
    for (std::int64_t at = first; stride > 0 ? at <= last : at >= last; at += stride) {
      if (at < 0 || positions.size() >= most) break;
      positions.push_back(static_cast<std::uint32_t>(at));
    }
  }
  return positions;
}

}  // namespace

DumpiTypes::DumpiTypes(std::vector<std::uint64_t> sizes) {
  for (std::size_t i = 0; i < sizes.size() && i <= UINT16_MAX; ++i) {
    if (sizes[i] > 0) sizes_[static_cast<std::uint16_t>(i)] = sizes[i];
  }
}

std::uint64_t DumpiTypes::size(std::uint16_t type) {
  const auto found = sizes_.find(type);
  if (found != sizes_.end()) return found->second;
  ++unknown_;
  return 0;
}

void DumpiTypes::derive(std::uint16_t made, std::uint16_t of, std::uint64_t how_many) {
  const auto found = sizes_.find(of);
  if (found == sizes_.end()) {
    sizes_.erase(made);
    return;
  }
  const std::uint64_t size = found->second;
  sizes_[made] = size != 0 && how_many > kMost / size ? kMost : size * how_many;
}

void DumpiGroups::set_world(std::uint16_t group) {
  Members all(world_size_);
  std::iota(all.begin(), all.end(), 0u);
  groups_[group] = std::move(all);
}

const DumpiGroups::Members* DumpiGroups::find(std::uint16_t group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : &found->second;
}

void DumpiGroups::combine(std::string_view function, std::uint16_t a, std::uint16_t b, std::uint16_t made) {
  const Members* first = find(a);
  const Members* second = find(b);
  if (first == nullptr || second == nullptr) return set_unknown(made);
  Members result;
  const bool both = function == "MPI_Group_union";
  const bool common = function == "MPI_Group_intersection";
  for (const Rank rank : *first) {
    if (both || has(*second, rank) == common) result.push_back(rank);
  }
  if (both) {
    for (const Rank rank : *second) {
      if (!has(*first, rank)) result.push_back(rank);
    }
  }
  groups_[made] = std::move(result);
}

void DumpiGroups::select(std::string_view function, std::uint16_t from,
                         const std::vector<std::uint32_t>& ranks,
                         const std::vector<std::vector<std::uint32_t>>& ranges, std::uint16_t made) {
  const Members* all = find(from);
  if (all == nullptr) return set_unknown(made);
  const std::vector<std::uint32_t> positions = ranges.empty() ? ranks : expanded(ranges, all->size());
  std::vector<bool> named(all->size());
  Members result;
  const bool takes = function.ends_with("incl");
  for (const std::uint32_t position : positions) {
    if (position >= all->size()) return set_unknown(made);
    if (takes && !named[position]) result.push_back((*all)[position]);
    named[position] = true;
  }
  for (std::size_t i = 0; !takes && i < all->size(); ++i) {
    if (!named[i]) result.push_back((*all)[i]);
  }
  groups_[made] = std::move(result);
}

}  // namespace weft::goal
