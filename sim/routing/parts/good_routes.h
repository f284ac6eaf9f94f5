// Where source routes lead whose senders leave out what is down or slow, as marks and losses tell them.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "sim/routing/parts/shortest_routes.h"
#include "sim/routing/routing.h"

namespace weft::routing {

// Ways as they would be drawn if all links were alike, each as often as its slowest link allows: a way over a
// link at a tenth of the rate that the fastest between switches has is taken a tenth as often as others, one
// over a link that is down never. So at each switch, the share of a next channel is what it is drawn by,
// times what its rate and the good ways behind it allow.
//
// Routes through a NIC take all shortest ways alike where there are no more than `most`, else they divide
// evenly at each switch.
class GoodRoutes final : public PathModel {
 public:
  // `denied`: as HostDistances'.
  GoodRoutes(const PlanSetup& setup, std::vector<bool> denied, double most);
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  double weight_of_entry(topologies::Vertex at, std::uint32_t host) const override;
  bool tells_hosts_apart() const override { return false; }

 private:
  struct Draw {
    std::uint32_t channel = 0;
    double odds = 0;  // then the share of good ways
  };
  std::vector<Draw> draws(topologies::Vertex at, std::uint32_t host) const;
  void begin(std::uint32_t host) const;
  double good(topologies::Vertex at, std::uint32_t host) const;
  double count(topologies::Vertex at, std::uint32_t host) const;

  const topologies::Topology& topology_;
  std::vector<double> rates_;  // by channel: what it carries, of what the fastest does; NICs': of its own
  const double most_;
  mutable std::mutex mutex_;
  mutable ShortestRoutes shortest_;  // which keeps what it has searched
  // What is known of the host that was asked for last, by vertex: the share of what is drawn that is good,
  // and how many ways there are, as the network was built; -1 and 0: not known yet.
  mutable std::vector<double> good_, count_;
  mutable std::uint32_t host_ = UINT32_MAX;
};

}  // namespace weft::routing
