// How far switches are from a host over the links that may be used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/routing/table/switch_links.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// One for all connections of a run, whose partitions may ask at the same time. It keeps the distance from
// every switch to each destination that was asked for, a byte each: hosts on the same switches are one
// destination. A Clos of 6,144 switches and 131,072 hosts with 512 leaves in a plane takes 70 MB at most.
class HostDistances {
 public:
  // By switch: how many there are to the destination, itself included.
  using Distances = std::vector<std::uint8_t>;
  static constexpr std::uint8_t kNoWay = 255, kFar = 254;  // kFar: or more

  // `denied`: by channel, both directions of a link alike; no way takes such a link. Empty: none is.
  HostDistances(const topologies::Topology& topology, std::vector<bool> denied)
      : topology_(topology), links_(topology), denied_(std::move(denied)) {}

  const Distances& towards(topologies::Vertex host);
  bool is_denied(std::uint32_t channel) const { return !denied_.empty() && denied_[channel]; }

 private:
  Distances search(const std::vector<topologies::Vertex>& last) const;

  const topologies::Topology& topology_;
  const SwitchLinks links_;
  const std::vector<bool> denied_;
  std::mutex mutex_;
  std::map<std::vector<topologies::Vertex>, std::unique_ptr<const Distances>> known_;  // by last switches
};

}  // namespace weft::routing
