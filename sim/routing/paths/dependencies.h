// Can packets that may not be dropped wait for each other in a circle? Told from the paths that a policy
// allows and the way in which queues use virtual channels, before a simulation.
//
// A packet at a switch holds room in the buffer of the channel that it came through, and waits for room in
// that of the channel that it leaves through: the second depends on the first to be emptied. If no channel
// depends on itself by way of others, packets always get on, as hosts take what comes. Source: W. Dally,
// C. Seitz, Deadlock-free message routing in multiprocessor interconnection networks, IEEE Transactions on
// Computers C-36(5), 1987.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/routing/channel_rule.h"
#include "sim/routing/path_model.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Packets that use the network.
struct Travellers {
  const PathModel* paths = nullptr;
  bool control = false;   // ACKs and other small packets
  bool reversed = false;  // they go such paths backwards; by kRouted, in channel 0
};

struct Dependencies {
  struct Place {
    std::uint32_t channel = 0, virtual_channel = 0;
    bool operator==(const Place&) const = default;
  };
  bool finished = true;            // false: it would have taken too long, and nothing else is known
  std::uint64_t channels = 0;      // virtual ones between switches that packets may be in
  std::uint64_t dependencies = 0;  // pairs of them, one of which waits for the other
  std::vector<Place> cycle;  // a short one: each waits for the next, the last for the first; empty: none

  bool acyclic() const { return finished && cycle.empty(); }
};

// Looks at steps of paths and at dependencies that a check may take: about a second for 100 million.
inline constexpr std::uint64_t kCheckWork = 100'000'000;

// All pairs of hosts, through any of the source's NICs, with all links up. Detours: any first leg to any
// host, from hosts that take detours at all, then any second leg. What it allows is what can happen or more:
// where there is no cycle there is no deadlock; a cycle is one that packets may come to wait in.
Dependencies find_dependencies(const topologies::Topology& topology, const RoutingTable& table,
                               const std::vector<Travellers>& travellers, const ChannelRule& rule,
                               std::uint64_t most_work = UINT64_MAX);

// Tells whether find_dependencies() would find no cycle, without naming one; nothing: it would take more than
// `work_left`, which is less by what was done.
std::optional<bool> is_acyclic(const topologies::Topology& topology, const RoutingTable& table,
                               const std::vector<Travellers>& travellers, const ChannelRule& rule,
                               std::uint64_t& work_left);

// "router 0 -> router 1 (virtual channel 2)"; without the latter if the rule has one only.
std::string name_of(const topologies::Topology& topology, const Dependencies::Place& place,
                    const ChannelRule& rule);

}  // namespace weft::routing
