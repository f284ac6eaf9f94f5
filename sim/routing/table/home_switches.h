// The switches between which detours begin, turn and end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/table/host_classes.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// A host's are the switches that it is cabled to. Of a host inside a machine of several accelerators
// (Node::domain) they are the outer switches that the nearest NICs of its machine lead to, by links inside:
// policies that know groups and detours route between these, and the machine's own NICs and switches only
// lead there. Without linked groups, machines on several outer switches are as other networks: ways between
// switches could lead through them.
class HomeSwitches {
 public:
  // Without links that are down, by link; empty: none is.
  explicit HomeSwitches(const topologies::Topology& topology, const std::vector<bool>& down_links = {});

  // Some hosts have outer switches for theirs.
  bool outer() const { return outer_; }
  // Machines are on several outer switches, and these aren't in linked groups.
  bool ambiguous() const { return ambiguous_; }
  // Vertices, in the order of links, or, of a machine's, ascending.
  std::span<const std::uint32_t> of(std::uint32_t host) const {
    return {homes_.data() + begin_[host], homes_.data() + begin_[host + 1]};
  }
  // A packet at any home of `from` is at one of `to`.
  bool are_among(std::uint32_t from, std::uint32_t to) const;
  // REQUIRES for the rest: outer().
  // Channels of a switch inside a machine on the nearest ways out; none: there is no way.
  std::span<const std::uint32_t> exits(std::uint32_t switch_index) const {
    return {exits_.data() + exits_begin_[switch_index], exits_.data() + exits_begin_[switch_index + 1]};
  }
  // Hosts with the same homes, as classify() numbers its classes.
  std::vector<HostClass> classify(std::vector<std::uint32_t>& class_of) const;

 private:
  void find_outer(const topologies::Topology& topology, const std::vector<bool>& down_links);

  std::vector<std::uint32_t> begin_{0}, homes_;        // by host
  std::vector<std::uint32_t> exits_begin_{0}, exits_;  // by switch
  bool outer_ = false, ambiguous_ = false;
};

}  // namespace weft::routing
