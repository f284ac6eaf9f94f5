// The paths of one pair of hosts under a path model, the likeliest first.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

struct ListedPath {
  double share = 0;                     // of the pair's traffic
  std::vector<std::uint32_t> channels;  // from the source's NIC to the destination
};

// All paths by way of one switch, or of several where hosts have several.
struct ListedDetour {
  double share = 0;
  std::vector<std::uint32_t> via;  // vertices, ascending
  std::uint32_t hosts = 0;         // cabled to them
  std::uint32_t least_hops = 0,
                most_hops = 0;  // links, those of both hosts among them; most: UINT32_MAX, any
};

struct PathList {
  std::vector<ListedPath> paths;
  double paths_left = 0, share_left = 0;  // how many are left out (may be infinite), and their share
  std::vector<ListedDetour> detours;
  std::uint32_t detours_left = 0;
  double detour_share_left = 0;
};

// At most `most` paths, and as many detours. A host with several NICs uses all evenly that lie on minimal
// paths. REQUIRES: two different hosts.
PathList list_paths(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
                    std::uint32_t source, std::uint32_t destination, std::uint32_t most);

}  // namespace weft::routing
