// The links between switches, by switch: what next links are found on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

struct SwitchLink {
  std::uint32_t to = 0;  // switch number
  std::uint32_t channel = 0;
};

class SwitchLinks {
 public:
  explicit SwitchLinks(const topologies::Topology& topology);

  std::uint32_t switches() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  // In the order of Topology::out_channels, hosts left out. A link's place among them is its port, below.
  std::span<const SwitchLink> of(std::uint32_t s) const {
    return {links_.data() + begin_[s], links_.data() + begin_[s + 1]};
  }
  std::size_t memory_bytes() const {
    return begin_.capacity() * sizeof(std::uint32_t) + links_.capacity() * sizeof(SwitchLink);
  }

 private:
  std::vector<std::uint32_t> begin_;  // into links_, one more than there are switches
  std::vector<SwitchLink> links_;
};

// Whether a channel belongs to a link that is down. `down_links`: by link; empty: none is.
inline bool is_down(const std::vector<bool>& down_links, std::uint32_t channel) {
  return !down_links.empty() && down_links[channel / 2];
}

}  // namespace weft::routing
