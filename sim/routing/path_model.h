// Where a policy may send packets, told without simulating any: for who lists paths, adds up the load of
// links, divides fluids, or proves that packets can't wait for each other in a circle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// What a packet carries that decides where it may go next; its meaning is the model's, below kMostStates.
using PathState = std::uint8_t;

// A way in which packets of a pair of hosts begin.
struct PathStart {
  double share = 1;  // of the pair's packets; all shares together make 1
  PathState state = 0;
  // First to a host drawn from all with equal odds, up to a switch that it is cabled to; from there on in
  // state PathModel::behind_detour(). A host cabled to the same switch as the source or the destination means
  // no detour.
  bool by_detour = false;
};

// A next channel of a packet at a switch.
struct PathStep {
  std::uint32_t channel = 0;
  double share = 1;  // of the packets that are here in this state; all shares together make 1
  PathState state = 0;
  std::uint8_t virtual_channel = 0;  // where routing chooses it (queue discipline credit:selection=routed)
};

// A way that is named hop by hop.
struct NamedWay {
  double share = 1;                     // of the pair's packets; all shares together make 1
  std::vector<std::uint32_t> channels;  // from the source's NIC to the destination
};

// Immutable, but for reconverge(): may be asked from several threads.
class PathModel {
 public:
  static constexpr std::uint32_t kMostStates = 16;

  virtual ~PathModel() = default;
  // How packets between two hosts begin. Appends to `starts`.
  virtual void starts(std::uint32_t source, std::uint32_t destination,
                      std::vector<PathStart>& starts) const = 0;
  // The next channels at switch `at` towards a host: the destination, or that of a detour. Appends to
  // `steps`; none: there is no way. To a host that is cabled to `at`, and is the destination: its cable.
  virtual void steps(topologies::Vertex at, PathState state, std::uint32_t host,
                     std::vector<PathStep>& steps) const = 0;
  // A source that takes all of its NICs (Policy::all_nics) sends so much through the one that leads to switch
  // `at`, in proportion to others; 0: nothing.
  virtual double weight_of_entry(topologies::Vertex /*at*/, std::uint32_t /*host*/) const { return 1; }
  // After the detour of a packet that came there in this state.
  virtual PathState behind_detour(PathState state) const { return state; }
  // In networks of linked groups: whether detours within a group are by hosts of this group only.
  virtual bool detours_within_groups() const { return false; }
  // The states that there are: 0 to states() - 1.
  virtual std::uint32_t states() const { return 1; }
  // The virtual channels that it chooses among; 0: it leaves them to the queues.
  virtual std::uint32_t virtual_channels() const { return 0; }
  // Why these keep packets from waiting in a circle, where that is published for networks such as this one
  // and nothing has to be looked for; "": not known.
  virtual std::string own_proof() const { return ""; }
  // The most links between switches that any way has, or more, where that is known without following ways; 0:
  // it isn't.
  virtual std::uint32_t most_links() const { return 0; }
  // Does it matter which of the hosts that are cabled to the same switches in the same order (HostClass) a
  // packet comes from or goes to, but for the last link? If not, they are looked at as one.
  virtual bool tells_hosts_apart() const { return true; }
  // Packets go ways that are named for each pair of hosts: ways() says which, and nothing else is asked.
  virtual bool names_ways() const { return false; }
  // All ways are shortest ones of the network, as MinimalPaths has them: who looks for all that can happen
  // may look at these instead.
  virtual bool all_minimal() const { return false; }
  // Appends to `ways`; none: there is no way. REQUIRES: names_ways(), and two different hosts.
  virtual void ways(std::uint32_t /*source*/, std::uint32_t /*destination*/,
                    std::vector<NamedWay>& /*ways*/) const {}
};

// Is the base of models for policies that name ways.
class NamedPaths : public PathModel {
 public:
  bool names_ways() const final { return true; }
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const final;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const final;
  void ways(std::uint32_t source, std::uint32_t destination, std::vector<NamedWay>& ways) const override = 0;
};

// All shortest paths, evenly at each switch: what most policies come to over time.
class MinimalPaths final : public PathModel {
 public:
  explicit MinimalPaths(const RoutingTable& table) : table_(table) {}
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  bool tells_hosts_apart() const override { return false; }
  bool all_minimal() const override { return true; }

 private:
  const RoutingTable& table_;
};

}  // namespace weft::routing
