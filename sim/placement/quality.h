// What a placement comes to before anything is simulated: how far a job's bytes go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/placement/host_distances.h"
#include "sim/placement/placement.h"

namespace weft::placement {

// Hops are links between switches on a shortest path: 0 on one host or one switch; a machine of several
// accelerators, each a host, is a node. Dilation: the hops between
// two ranks that talk to each other.
struct Quality {
  std::uint32_t nodes = 0, switches = 0, groups = 0;  // that have ranks of the job
  std::uint64_t pairs = 0;                            // of ranks that talk, each direction
  double bytes = 0, hop_bytes = 0;                    // hop_bytes: bytes times hops
  double bytes_on_node = 0, bytes_on_switch = 0;      // on_switch: between nodes of the same switch
  double mean_dilation = 0;                           // over pairs
  std::uint32_t worst_dilation = 0;
  std::vector<double> bytes_by_hops;  // from 0 on

  double hops_per_byte() const { return bytes > 0 ? hop_bytes / bytes : 0; }
};

// `hosts`: by rank; all of them are known to `distances`.
Quality quality_of(const topologies::Topology& topology, std::span<const std::uint32_t> hosts,
                   std::span<const Exchange> exchanges, const HostDistances& distances);

}  // namespace weft::placement
