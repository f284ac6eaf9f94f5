// What a routing table and its repaired copies share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/routing/table/distance_columns.h"
#include "sim/routing/table/domain_search.h"
#include "sim/routing/table/grid_hops.h"
#include "sim/routing/table/host_classes.h"
#include "sim/routing/table/routing_table.h"
#include "sim/routing/table/switch_links.h"

namespace weft::routing {

struct RoutingTable::Base {
  static constexpr std::uint32_t kHost = 0x80000000;

  explicit Base(const topologies::Topology& topology);

  std::uint32_t host_number(topologies::Vertex v) const { return number[v] & ~kHost; }
  bool is_host(topologies::Vertex v) const { return (number[v] & kHost) != 0; }
  std::span<const SwitchLink> nics(std::uint32_t host) const {
    return {host_links.data() + host_begin[host], host_links.data() + host_begin[host + 1]};
  }
  // A node without a row of its own: it has the first one, of codes 0, and the first set.
  Node computed() const { return {.codes = rows.front().data(), .first_direct = 0xFF}; }
  // Gives the column of a class; null: there are none.
  const std::uint8_t* column(std::uint32_t host_class) const {
    return columns.empty() ? nullptr : columns.data() + host_class * bytes_of_column();
  }
  std::size_t bytes_of_column() const {
    return costs != nullptr ? cost_column_bytes(links.switches()) : column_bytes(links.switches());
  }
  std::size_t memory_bytes() const;

  SwitchLinks links;
  std::vector<std::uint32_t> number;      // by vertex: that of the switch, or kHost and that of the host
  std::vector<std::uint32_t> host_begin;  // into host_links, one more than there are hosts
  std::vector<SwitchLink> host_links;     // a host's NICs; `to` is a vertex here
  std::vector<HostClass> classes;
  std::vector<std::uint32_t> class_of;          // by host
  std::vector<std::vector<std::uint8_t>> rows;  // codes
  std::vector<Node> switch_nodes;               // by switch
  std::vector<std::uint8_t> columns;            // [class]; empty: no set is computed from them
  std::unique_ptr<const GridHops> grid;         // null: there is no grid
  // Null: the fewest links. Else columns have costs, and there is no grid.
  std::unique_ptr<const DomainCosts> costs;
  std::size_t sets = 0, pool = 0;  // how many there are before any repair
};

}  // namespace weft::routing
