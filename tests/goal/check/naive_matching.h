// The most sends and receives that can be paired, by the definition: slow and plain.
#pragma once

#include <cstddef>
#include <vector>

namespace weft::goal {

// A maximum matching found message by message (H. W. Kuhn, "The Hungarian method for the assignment problem",
// Naval Research Logistics Quarterly 2, 1955). fits(send, receive) tells whether the receive takes the send.
template <typename Message, typename Fits>
std::size_t matched_naively(const std::vector<Message>& sends, const std::vector<Message>& receives,
                            const Fits& fits) {
  std::vector<int> partner(receives.size(), -1);
  std::vector<bool> visited;
  const auto place = [&](const auto& self, int send) -> bool {
    for (std::size_t r = 0; r < receives.size(); ++r) {
      if (visited[r] || !fits(sends[static_cast<std::size_t>(send)], receives[r])) continue;
      visited[r] = true;
      if (partner[r] < 0 || self(self, partner[r])) {
        partner[r] = send;
        return true;
      }
    }
    return false;
  };
  std::size_t matched = 0;
  for (int send = 0; send < static_cast<int>(sends.size()); ++send) {
    visited.assign(receives.size(), false);
    matched += place(place, send);
  }
  return matched;
}

}  // namespace weft::goal
