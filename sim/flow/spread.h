// Flows that divide evenly over all minimal paths: which links are always loaded alike, and which can never
// be full before others are.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/flow/max_min.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// What goes to a host divides evenly, at every switch, over the links on minimal paths that are up. Hosts
// with cables to the same switches are one destination to all switches but those: a `unit`.
class Spread {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `capacity`: of every channel; 0: it is down. All three must outlive it.
  Spread(const topologies::Topology& topology, const routing::RoutingTable& table,
         const std::vector<Rate>& capacity);

  std::uint32_t units() const { return static_cast<std::uint32_t>(unit_host_.size()); }
  std::uint32_t unit_of(std::uint32_t host) const { return unit_of_host_[host]; }

  // A switch on the way to a unit. `links`: the channels it divides over; empty where a last switch is
  // reached, and where there is no way on.
  struct Stop {
    std::uint32_t vertex = 0;
    std::uint32_t distance = 0;  // links left to the last switch, where they begin at several
    std::uint32_t first = 0, count = 0;
  };
  // All switches that lie on the way from these to the unit, farthest first. Valid until the next call.
  std::span<const Stop> stops(std::uint32_t unit, std::span<const std::uint32_t> from);
  std::span<const std::uint32_t> links(const Stop& stop) const {
    return {links_.data() + stop.first, links_.data() + stop.first + stop.count};
  }
  // Is this one of the switches that the unit's hosts are cabled to?
  bool is_last(std::uint32_t unit, std::uint32_t vertex) const;
  // And the only one?
  bool only_last(std::uint32_t unit, std::uint32_t vertex) const;
  // The channels from a last switch to a host that are up.
  void last_links(std::uint32_t vertex, std::uint32_t host, std::vector<std::uint32_t>& links) const;

  // One of the channels that a switch divides over; kNone where there are none.
  std::uint32_t first_link(std::uint32_t unit, std::uint32_t vertex) const;

  // Divides a flow from `from` to the unit. `visit(channel, share)` is called for each channel between
  // switches, `arrive(vertex, share)` for each last switch; shares are of 1. False: part of it has no way.
  template <typename Visit, typename Arrive>
  bool divide(std::uint32_t unit, std::uint32_t from, Visit&& visit, Arrive&& arrive) {
    bool open = true;
    const std::uint32_t sources[] = {from};
    const std::span<const Stop> way = stops(unit, sources);
    part_[from] = 1;
    for (const Stop& stop : way) {
      const double part = std::exchange(part_[stop.vertex], 0.0);
      if (stop.count == 0) {
        if (is_last(unit, stop.vertex)) {
          arrive(stop.vertex, part);
        } else {
          open = false;
        }
        continue;
      }
      const double each = part / stop.count;
      for (const std::uint32_t channel : links(stop)) {
        visit(channel, each);
        part_[topology_.channels()[channel].to] += each;
      }
    }
    return open;
  }

  // Groups channels between switches that every flow loads alike, so that one of them stands for all, and
  // leaves out those that hosts' links keep from ever being the only bottleneck. Where that would take long
  // and save little, each is a group. Returns each channel's group, numbered from 0 by their least channel;
  // kNone where it is left out, and for the links of hosts.
  std::vector<std::uint32_t> groups();

 private:
  std::uint32_t distance(std::uint32_t unit, std::uint32_t vertex);
  std::uint32_t next_switch(std::uint32_t unit, std::uint32_t vertex) const;
  void mark_last(std::uint32_t unit);
  void sort_by_distance();
  bool differ_too_much(const std::vector<std::uint64_t>& sums, const std::vector<bool>& used) const;
  std::vector<std::uint32_t> apart() const;
  void mark_free(std::vector<std::uint32_t>& group, std::uint32_t groups);
  void find_units();
  std::vector<std::vector<std::uint32_t>> twins() const;
  std::uint32_t last_of(std::uint32_t unit) const;

  friend class LoadSums;

  const topologies::Topology& topology_;
  const routing::RoutingTable& table_;
  const std::vector<Rate>& capacity_;
  std::vector<std::uint32_t> unit_of_host_, unit_host_;  // unit_host_: one host of each
  std::vector<std::uint32_t> sources_;                   // switches with hosts
  std::vector<double> part_;                             // by vertex; 0 between calls
  // stops() works with these.
  std::vector<Stop> stops_, sorted_;
  std::vector<std::uint32_t> links_, chain_, counts_;
  std::vector<std::uint32_t> switch_at_;     // by channel: the switch it leads to; kNone: a host
  std::vector<std::uint32_t> place_;         // by vertex that the call reached: in stops_
  std::vector<std::uint32_t> last_;          // by vertex: the call to whose unit it is cabled
  std::vector<std::uint32_t> distance_;      // by vertex, of the unit at hand
  std::vector<std::uint32_t> seen_, known_;  // by vertex: the call that reached it; of which unit that is
  std::uint32_t call_ = 0;
};

}  // namespace weft::sim::flow
