// Where packets go to, for policies with tables of their own: the switches that hosts are cabled to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

// Hosts that are cabled to the same switches are one destination.
class Destinations {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // `down_links`: by link, those not to use; empty: none is down.
  Destinations(const topologies::Topology& topology, const std::vector<bool>& down_links);

  std::uint32_t size() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::uint32_t of(std::uint32_t host) const { return of_host_[host]; }
  // The port of its switch that leads to a host, if it has one cable; else kNone.
  std::uint32_t cable_port(std::uint32_t host) const { return cable_port_[host]; }
  // The switches' numbers, ascending. None: its hosts have no way in.
  std::span<const std::uint32_t> switches(std::uint32_t destination) const {
    return {switches_.data() + begin_[destination], switches_.data() + begin_[destination + 1]};
  }
  bool ends_at(std::uint32_t s, std::uint32_t destination) const;
  std::uint32_t hosts(std::uint32_t destination) const { return hosts_[destination]; }
  // That are cabled to a switch.
  std::uint32_t hosts_at(std::uint32_t s) const { return hosts_at_[s]; }
  // Do packets begin there?
  bool is_source(std::uint32_t s) const { return hosts_at_[s] > 0; }

 private:
  std::vector<std::uint32_t> of_host_, cable_port_;
  std::vector<std::uint32_t> begin_ = {0}, switches_;
  std::vector<std::uint32_t> hosts_;     // by destination
  std::vector<std::uint32_t> hosts_at_;  // by switch
};

// Appends the cables from a switch to a host that are up.
void add_cables(const topologies::Topology& topology, const std::vector<bool>& down_links, std::uint32_t s,
                std::uint32_t host, std::vector<std::uint32_t>& channels);

}  // namespace weft::routing
