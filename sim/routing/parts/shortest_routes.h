// Source routes over shortest ways: which there are from a NIC to a host, and some of them at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/parts/host_distances.h"
#include "sim/routing/path_selector.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// One for all connections of a run, whose partitions may ask at the same time.
class ShortestRoutes {
 public:
  // `denied`: as HostDistances'.
  ShortestRoutes(const topologies::Topology& topology, std::vector<bool> denied)
      : topology_(topology), distances_(topology, std::move(denied)) {}

  // The channels from a switch one nearer to a host, in the order of ports. Appends to `channels`.
  void next(topologies::Vertex at, std::uint32_t host, std::vector<std::uint32_t>& channels);

  // Different ways through this NIC with the fewest links that are left from there, in random order: all if
  // there are no more than `most`, else `most` of them. Each next link is drawn evenly. Empty where no way is
  // left. Throws InputError for ways over more than SourceRoute::kMost switches.
  std::vector<SourceRoute> draw(std::uint32_t source, std::uint32_t nic, std::uint32_t destination,
                                std::size_t most, sim::RandomStream& random);

 private:
  using Distances = HostDistances::Distances;

  // A way in the making: the channels from a switch one nearer to the destination.
  struct Goal {
    const Distances& distances;
    topologies::Vertex host;
  };

  bool is_switch(topologies::Vertex v) const {
    return topology_.node(v).kind == topologies::NodeKind::kSwitch;
  }
  std::uint32_t index(topologies::Vertex v) const { return topology_.node(v).index; }
  bool leads_on(const Goal& goal, topologies::Vertex at, std::uint32_t channel) const;
  void collect(const Goal& goal, topologies::Vertex at, SourceRoute& route, std::size_t most,
               std::vector<SourceRoute>& found) const;
  SourceRoute walk(const Goal& goal, topologies::Vertex at, sim::RandomStream& random) const;

  const topologies::Topology& topology_;
  HostDistances distances_;
};

// Throws InputError: the shortest way between two hosts has so many switches, more than a route names.
[[noreturn]] void fail_too_long(const topologies::Topology& topology, topologies::Vertex from,
                                topologies::Vertex to, std::uint8_t distance);

}  // namespace weft::routing
