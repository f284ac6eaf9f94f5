// Where packets go whose senders leave out what is down or slow: entropies, or source routes, that marks and
// losses keep from being used again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/routing/parts/shortest_routes.h"
#include "sim/routing/routing.h"

namespace weft::routing {

// Ways as they would be drawn if all links were alike, each as often as its links allow: a way over a link
// that carries a tenth of its rate is taken a tenth as often as others, one over a link that is down never.
// So at each switch, the share of a next channel is what it is drawn by, times what is left of its rate,
// times the share of good ways behind it.
class GoodWays : public PathModel {
 public:
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const final;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const final;
  double weight_of_entry(topologies::Vertex at, std::uint32_t host) const final;
  bool tells_hosts_apart() const final { return false; }

 protected:
  struct Draw {
    std::uint32_t channel = 0;
    double odds = 0;
  };
  explicit GoodWays(const PlanSetup& setup);
  // Appends what is drawn at a switch on the way to a host, with what odds. One thread at a time.
  virtual void draws(topologies::Vertex at, std::uint32_t host, std::vector<Draw>& draws) const = 0;
  bool is_up(std::uint32_t channel) const { return share(channel) > 0; }
  const topologies::Topology& topology() const { return topology_; }

 private:
  double share(std::uint32_t channel) const { return shares_.empty() ? 1 : shares_[channel]; }
  void begin(std::uint32_t host) const;
  double good(topologies::Vertex at, std::uint32_t host) const;

  const topologies::Topology& topology_;
  const std::vector<double> shares_;  // by channel: PlanSetup's
  // What is known of the host that was asked for last, by vertex: the share of what is drawn that is good.
  mutable std::mutex mutex_;
  mutable std::vector<double> good_;
  mutable std::vector<std::uint64_t> good_in_;  // the round in which that was found
  mutable std::uint64_t round_ = 0;
  mutable std::uint32_t host_ = UINT32_MAX;
};

// Entropies lead at each switch evenly over the minimal next channels that are up.
std::unique_ptr<PathModel> good_entropies(const PlanSetup& setup);

// Source routes through a NIC take all shortest ways alike where there are no more than `most`, else they
// divide evenly at each switch. `denied`: as HostDistances'.
std::unique_ptr<PathModel> good_routes(const PlanSetup& setup, std::vector<bool> denied, double most);

}  // namespace weft::routing
