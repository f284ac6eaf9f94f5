#include "goal/graph/communicator_places.h"

#include <algorithm>

namespace weft::goal {

CommunicatorPlaces::CommunicatorPlaces(Rank ranks, std::span<const Communicator> communicators)
    : ranks_(ranks), sorted_(communicators.size()) {
  for (std::size_t comm = 0; comm < sorted_.size(); ++comm) {
    const std::vector<Rank>& members = communicators[comm].ranks;
    for (std::uint32_t i = 0; i < members.size(); ++i) sorted_[comm].emplace_back(members[i], i);
    std::sort(sorted_[comm].begin(), sorted_[comm].end());
  }
}

std::uint32_t CommunicatorPlaces::position(std::uint32_t comm, Rank rank) const {
  const auto& sorted = sorted_[comm];
  if (sorted.empty()) return rank < ranks_ ? rank : kAny;
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair<Rank, std::uint32_t>(rank, 0));
  return found != sorted.end() && found->first == rank ? found->second : kAny;
}

}  // namespace weft::goal
