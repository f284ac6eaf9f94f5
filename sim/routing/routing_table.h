// All minimal next channels from every node to every host, looked up in constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

// Minimal means the fewest links; hosts never forward. Immutable, so partitions may share one.
//
// Hosts attached to the same switches in the same order form a class, and a table row holds one 16-bit entry
// per class: memory is switches × classes × 2 bytes (21 MB for the 65,536 hosts of a fat tree with k = 64,
// 0.5 GB for a torus of 16,384 routers). Hosts with links to several switches have rows too, one for each
// class. Equal candidate sets of a node are stored once.
class RoutingTable {
 public:
  // Breadth-first search from every class: O(classes × links). `topology` must be finished; it is not kept.
  // Throws InputError if some host can't reach another without passing through a third host, or if a node has
  // more than 32,767 different candidate sets.
  //
  // `down_links`: by link, those that no path may use; then hosts may be out of reach, and candidates() is
  // empty for them. Empty: none is down.
  explicit RoutingTable(const topologies::Topology& topology, const std::vector<bool>& down_links = {});

  // The channels of `at` that lie on a minimal path to the host, in the order of Topology::out_channels.
  // At a host: its NICs. Empty only at a switch of a plane that doesn't lead there, and where links are down.
  // REQUIRES: `at` is not the destination itself.
  std::span<const std::uint32_t> candidates(topologies::Vertex at, std::uint32_t destination_host) const {
    const std::uint32_t set = set_of(at, destination_host);
    return {pool_.data() + set_begin_[set], pool_.data() + set_begin_[set + 1]};
  }
  // The candidate that choose(count) picks, count being that of the candidates: what candidates() would tell,
  // from less memory. REQUIRES: there are candidates.
  template <typename Choose>
  std::uint32_t candidate(topologies::Vertex at, std::uint32_t destination_host, Choose&& choose) const {
    const std::uint32_t set = set_of(at, destination_host);
    const Set& compact = sets_[set];
    if (compact.count != 0) [[likely]] {
      if (compact.count == 1) return compact.first;
      return compact.first + choose(std::size_t{compact.count}) * compact.stride;
    }
    const std::uint32_t begin = set_begin_[set];
    return pool_[begin + choose(std::size_t{set_begin_[set + 1] - begin})];
  }
  // Fetches the table's entry into the cache.
  [[gnu::always_inline]] void prefetch(topologies::Vertex at, std::uint32_t destination_host) const {
    __builtin_prefetch(entry_address(at, destination_host));
  }

  // Bytes held, for reports.
  std::size_t memory_bytes() const;

 private:
  class Builder;
  // Marks an entry of a node that is next to the destination; the rest is the node's place among the
  // distinct neighbours of the destination.
  static constexpr std::uint16_t kDirect = 0x8000;

  struct Node {
    std::uint32_t row = 0;        // hosts share one, those at several switches with their class only
    std::uint32_t first_set = 0;  // an entry counts from here; a host has its own copy of its class's sets
  };
  // Channels first, first + stride, first + 2 × stride …; count 0: not of this form, look into the pool.
  struct Set {
    std::uint32_t first = 0;
    std::uint16_t count = 0, stride = 0;
  };
  struct Destination {
    std::uint32_t host_class = 0;
    std::uint32_t first_direct_set = 0;  // one set per distinct neighbour
  };

  const std::uint16_t* entry_address(topologies::Vertex at, std::uint32_t destination_host) const {
    return entries_.data() + static_cast<std::size_t>(nodes_[at].row) * classes_ +
           destinations_[destination_host].host_class;
  }
  std::uint32_t set_of(topologies::Vertex at, std::uint32_t destination_host) const {
    const std::uint32_t entry = *entry_address(at, destination_host);
    return entry & kDirect ? destinations_[destination_host].first_direct_set + (entry & ~kDirect)
                           : nodes_[at].first_set + entry;
  }

  std::uint32_t classes_ = 0;
  std::vector<Node> nodes_;                // by vertex
  std::vector<Destination> destinations_;  // by host number
  std::vector<std::uint16_t> entries_;     // [row][class]
  std::vector<Set> sets_;                  // the compact form, for those that have one
  std::vector<std::uint32_t> set_begin_;   // into pool_, one more than there are sets
  std::vector<std::uint32_t> pool_;        // channel numbers
};

}  // namespace weft::routing
