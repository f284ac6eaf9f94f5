// How a lossless queue discipline uses virtual channels, for who asks whether packets may wait in a circle.
#pragma once

#include <cstdint>

namespace weft::routing {

// Which virtual channel of a link a packet is in.
struct ChannelRule {
  enum class Selection : std::uint8_t {
    kByHop,   // as many links between switches as it has crossed before, or the last one
    kByFlow,  // any, but the same on all links
    kRouted,  // the one that the policy chooses (PathStep::virtual_channel), or the last one
    // Grows by one with each link between switches, but not with one that leaves a group (Node::group) after
    // one within it; or the last one.
    kByGroup,
  };
  std::uint32_t channels = 1;
  Selection selection = Selection::kByFlow;
  bool control_apart = false;  // ACKs have one more of their own
  // The user leaves these open: what stands above is a stand-in until the network is known.
  bool any_count = false, any_selection = false;
};

}  // namespace weft::routing
