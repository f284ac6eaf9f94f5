// Hosts that a path model treats alike, so that what is worked out for one holds for all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/table/home_switches.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// A NIC by its number, and the vertex that it leads to.
struct Entry {
  std::uint32_t nic = 0, to = 0;
};

// A group is the hosts that are cabled to the same switches in the same order, or one host, or the hosts with
// the same HomeSwitches.
class HostGroups {
 public:
  // `apart`: each host is a group of its own. Both must outlive it.
  HostGroups(const topologies::Topology& topology, const RoutingTable& table, bool apart);
  // Looks at ways between homes only: of machines of several accelerators, what is inside them, their NICs
  // included, is left out, and NICs are their homes; without such it is the same as the other.
  static HostGroups between_homes(const topologies::Topology& topology, const RoutingTable& table,
                                  bool apart);
  bool leaves_out_machines() const { return between_homes_; }
  // Whether a link between switches, or one of them and a host, is one that is left out.
  bool leaves_out(const topologies::Channel& channel) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t of(std::uint32_t host) const { return group_of_[host]; }
  std::span<const std::uint32_t> hosts(std::uint32_t group) const { return hosts_[group]; }
  // A host of `from` and a different one of `to`, which stand for all pairs. REQUIRES: there are such.
  std::uint32_t source(std::uint32_t from, std::uint32_t to) const {
    return from == to ? hosts_[from][1] : hosts_[from][0];
  }
  std::uint32_t destination(std::uint32_t to) const { return hosts_[to][0]; }
  bool has_pair(std::uint32_t from, std::uint32_t to) const { return from != to || hosts_[from].size() > 1; }

  // Groups with a home that this one has, itself among them; ascending.
  std::span<const std::uint32_t> near(std::uint32_t group) const { return near_[group]; }
  bool is_near(std::uint32_t a, std::uint32_t b) const;
  // Hosts of all groups that are near to one of the two.
  std::uint32_t hosts_near(std::uint32_t a, std::uint32_t b) const;

  // The NICs of source(from, to) on minimal paths to destination(to).
  std::span<const Entry> entries(std::uint32_t from, std::uint32_t to, std::vector<Entry>& scratch) const;
  // The vertices at which detours by one of its hosts turn.
  std::span<const std::uint32_t> homes(std::uint32_t group) const { return homes_.of(hosts_[group][0]); }
  // All its NICs.
  std::span<const Entry> nics(std::uint32_t group) const { return nics_[group]; }

 private:
  HostGroups(const topologies::Topology& topology, const RoutingTable& table, bool apart, bool by_home);
  void find_nics(std::span<const std::uint32_t> hosts);
  void find_near();

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  HomeSwitches homes_;
  bool between_homes_ = false;
  std::vector<std::uint32_t> group_of_;  // by host
  std::vector<std::vector<std::uint32_t>> hosts_, near_;
  std::vector<std::vector<Entry>> nics_;  // of the first host
  std::vector<bool> one_way_;             // entries are the same to wherever
};

}  // namespace weft::routing
