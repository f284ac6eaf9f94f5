// Who stands where in a communicator.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// Positions of world ranks in communicators, found in logarithmic time.
class CommunicatorPlaces {
 public:
  explicit CommunicatorPlaces(const Graph& graph)
      : CommunicatorPlaces(graph.ranks(), graph.communicators()) {}
  CommunicatorPlaces(Rank ranks, std::span<const Communicator> communicators);
  // kAny if the rank is no member.
  std::uint32_t position(std::uint32_t comm, Rank rank) const;

 private:
  Rank ranks_;
  std::vector<std::vector<std::pair<Rank, std::uint32_t>>> sorted_;  // empty: all ranks in order
};

}  // namespace weft::goal
