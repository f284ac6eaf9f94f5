#include "sim/routing/path_model.h"

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

}  // namespace weft::routing
