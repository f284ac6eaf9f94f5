#include "sim/routing/path_model.h"

#include <stdexcept>

namespace weft::routing {

void MinimalPaths::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void MinimalPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                         std::vector<PathStep>& steps) const {
  const Candidates candidates = table_.candidates(at, host);
  for (const std::uint32_t c : candidates) {
    steps.push_back({.channel = c, .share = 1.0 / static_cast<double>(candidates.size()), .state = state});
  }
}

void NamedPaths::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>&) const {
  throw std::logic_error("paths that are named have no starts: ask for ways()");
}

void NamedPaths::steps(topologies::Vertex, PathState, std::uint32_t, std::vector<PathStep>&) const {
  throw std::logic_error("paths that are named have no steps: ask for ways()");
}

}  // namespace weft::routing
