// Several ways between two hosts, not all of them minimal: the k shortest ones, and as short ones as can be
// that share no link.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/parts/host_distances.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// The channels from a NIC of the source to the destination.
using ChannelWay = std::vector<std::uint32_t>;

// Searches go towards the destination by the distances of switches from it (A*), so that they look at little
// more than what they find: a tenth of a millisecond a way on a Jellyfish of 10,000 switches, once the
// distances from the destination are known (one to two milliseconds, and a byte a switch, kept).
//
// Both return the shortest ways first; which of equal ones is drawn at random. No way comes to a switch
// twice, or has more than `most` of them; empty where no way is left that has not.
class RouteFinder {
 public:
  // `most` switches on a way. The topology must outlive it.
  RouteFinder(const topologies::Topology& topology, std::uint32_t most);
  ~RouteFinder();

  // The `count` shortest ways, or all if there are no more; parallel links make different ways. Deviations
  // from the ways there are, each from a set of ways of its own (J. Y. Yen, Finding the k shortest loopless
  // paths in a network, Management Science 17(11), 1971; E. L. Lawler, ibid. 18(7), 1972).
  std::vector<ChannelWay> k_shortest(std::uint32_t source, std::uint32_t destination, std::size_t count,
                                     sim::RandomStream random);
  // `count` ways, or as many as there are, that share no link between switches, in all as short as can be:
  // each is found as a shortest augmenting path (J. W. Suurballe, Disjoint paths in a network, Networks 4,
  // 1974). Links of hosts are shared. Ways that come out longer than `most` are left out.
  std::vector<ChannelWay> edge_disjoint(std::uint32_t source, std::uint32_t destination, std::size_t count,
                                        sim::RandomStream random);
  // The fewest switches on a way: HostDistances' numbers.
  std::uint8_t distance(std::uint32_t source, std::uint32_t destination);

 private:
  class Search;
  class Task;
  class Yen;
  class Disjoint;

  // By a Yen or a Disjoint.
  template <typename Kind>
  std::vector<ChannelWay> find(std::uint32_t source, std::uint32_t destination, std::size_t count,
                               sim::RandomStream random);

  const topologies::Topology& topology_;
  const std::uint32_t most_;
  HostDistances distances_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Search>> idle_;
};

}  // namespace weft::routing
