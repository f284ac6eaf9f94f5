// Source routes over shortest ways: which there are from a NIC to a host, and some of them at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/path_selector.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// One for all connections of a run, whose partitions may ask at the same time. It keeps the distance from
// every node to each destination that was asked for, a byte each: hosts on the same switches are one
// destination. A Clos of 6,144 switches and 131,072 hosts with 512 leaves in a plane takes 70 MB at most.
class ShortestRoutes {
 public:
  // `denied`: by channel, both directions of a link alike; no route takes such a link. Empty: none is.
  ShortestRoutes(const topologies::Topology& topology, std::vector<bool> denied);

  // Different ways through this NIC with the fewest links that are left from there, in random order: all if
  // there are no more than `most`, else `most` of them. Each next link is drawn evenly. Empty where no way is
  // left. Throws InputError for ways over more than SourceRoute::kMost switches.
  std::vector<SourceRoute> draw(std::uint32_t source, std::uint32_t nic, std::uint32_t destination,
                                std::size_t most, sim::RandomStream& random);

 private:
  using Distances =
      std::vector<std::uint8_t>;  // by switch: how many there are to the destination, itself included
  static constexpr std::uint8_t kNoWay = 255, kFar = 254;

  // A way in the making: the channels from a switch one nearer to the destination.
  struct Goal {
    const Distances& distances;
    topologies::Vertex host;
  };

  bool is_switch(topologies::Vertex v) const {
    return topology_.node(v).kind == topologies::NodeKind::kSwitch;
  }
  std::uint32_t index(topologies::Vertex v) const { return topology_.node(v).index; }
  bool is_denied(std::uint32_t channel) const { return !denied_.empty() && denied_[channel]; }
  const Distances& towards(topologies::Vertex host);
  Distances search(std::span<const topologies::Vertex> last) const;
  bool leads_on(const Goal& goal, topologies::Vertex at, std::uint32_t channel) const;
  void collect(const Goal& goal, topologies::Vertex at, SourceRoute& route, std::size_t most,
               std::vector<SourceRoute>& found) const;
  SourceRoute walk(const Goal& goal, topologies::Vertex at, sim::RandomStream& random) const;

  const topologies::Topology& topology_;
  const std::vector<bool> denied_;
  std::mutex mutex_;
  std::map<std::vector<topologies::Vertex>, std::unique_ptr<const Distances>> known_;  // by last switches
};

}  // namespace weft::routing
