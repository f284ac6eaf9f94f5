// All minimal next channels from every node to every host, looked up in constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

// Minimal means the fewest links; hosts never forward. Immutable, so partitions may share one.
//
// Hosts attached to the same switches in the same order form a class, and a table row holds one 32-bit entry
// per class: memory is (switches + classes) × classes × 4 bytes (58 MB for the 65,536 hosts of a fat tree
// with k = 64). Equal candidate sets are stored once.
class RoutingTable {
 public:
  // Breadth-first search from every class: O(classes × links). `topology` must be finished; it is not kept.
  // Throws InputError if some host can't reach another without passing through a third host.
  explicit RoutingTable(const topologies::Topology& topology);

  // The channels of `at` that lie on a minimal path to the host, in the order of Topology::out_channels.
  // At a host: its NICs. Empty only at a switch of a plane that doesn't lead there. REQUIRES: `at` is not the
  // destination itself.
  std::span<const std::uint32_t> candidates(topologies::Vertex at, std::uint32_t destination_host) const {
    const Destination& destination = destinations_[destination_host];
    const Node& node = nodes_[at];
    const std::uint32_t entry =
        entries_[static_cast<std::size_t>(node.row) * classes_ + destination.host_class];
    const std::uint32_t set =
        entry & kDirect ? destination.first_direct_set + (entry & ~kDirect) : node.first_set + entry;
    return {pool_.data() + set_begin_[set], pool_.data() + set_begin_[set + 1]};
  }

  // Bytes held, for reports.
  std::size_t memory_bytes() const;

 private:
  class Builder;
  // Marks an entry of a node that is next to the destination; the rest is the node's place among the
  // distinct neighbours of the destination.
  static constexpr std::uint32_t kDirect = 0x80000000;

  struct Node {
    std::uint32_t row = 0;        // hosts of a class share one
    std::uint32_t first_set = 0;  // 0 for switches; a host's own copy of its class's sets
  };
  struct Destination {
    std::uint32_t host_class = 0;
    std::uint32_t first_direct_set = 0;  // one set per distinct neighbour
  };

  std::uint32_t classes_ = 0;
  std::vector<Node> nodes_;                // by vertex
  std::vector<Destination> destinations_;  // by host number
  std::vector<std::uint32_t> entries_;     // [row][class]
  std::vector<std::uint32_t> set_begin_;   // into pool_, one more than there are sets
  std::vector<std::uint32_t> pool_;        // channel numbers
};

}  // namespace weft::routing
