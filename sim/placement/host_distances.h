// How far hosts are from each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::placement {

// Links between switches (or routers inside hosts) on a shortest path: 0 for hosts on the same switches, 1
// for neighbours on a torus. As `weft topo analyze` counts. Memory: a byte for each pair of switches with
// hosts among these; where that is a gigabyte or more, who listens is told (expect_memory).
class HostDistances {
 public:
  HostDistances(const topologies::Topology& topology, std::span<const std::uint32_t> hosts);

  // REQUIRES: both were among the hosts.
  std::uint32_t hops(std::uint32_t from, std::uint32_t to) const {
    return distance_[std::size_t{place_[from]} * places_ + place_[to]];
  }
  // Hosts of the same place are equally far from everything.
  std::uint32_t place_of(std::uint32_t host) const { return place_[host]; }

 private:
  std::vector<std::uint32_t> place_;  // by host
  std::uint32_t places_ = 0;
  std::vector<std::uint8_t> distance_;
};

}  // namespace weft::placement
