// Hosts as users name them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sim/units/input_error.h"
#include "topologies/graph/topology.h"

namespace weft::placement {

// A name that the topology has ("host 3", "lrdn0089"), a host's number ("3"), or its short form ("h3"; Open
// MPI's "+n3").
class HostNames {
 public:
  explicit HostNames(const topologies::Topology& topology);
  // Throws InputError with the nearest name, or the range of numbers.
  std::uint32_t find(std::string_view name, const SourceLocation& location) const;

 private:
  const topologies::Topology& topology_;
  std::unordered_map<std::string, std::uint32_t> number_;
};

}  // namespace weft::placement
