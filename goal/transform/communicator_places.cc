#include "goal/transform/communicator_places.h"

#include <algorithm>

namespace weft::goal {

CommunicatorPlaces::CommunicatorPlaces(const Graph& graph)
    : ranks_(graph.ranks()), sorted_(graph.communicators().size()) {
  for (std::size_t comm = 0; comm < sorted_.size(); ++comm) {
    const std::vector<Rank>& ranks = graph.communicators()[comm].ranks;
    for (std::uint32_t i = 0; i < ranks.size(); ++i) sorted_[comm].emplace_back(ranks[i], i);
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
