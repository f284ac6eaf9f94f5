// How much each of a switch's next ports towards a host can carry, where paths differ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/switch_plan.h"

namespace weft::routing {

// What a next link leads to can carry so much towards a host: what its switch has from there on, over the
// next links there, and so on to the switch that the host is cabled to. Of that the link has its fair share,
// as several switches may send there: all links by which shortest paths of other hosts come to that switch
// have the same, or all that they can carry if that is less (max-min). Weights are in proportion to it. A
// link carries towards one host its rate divided by the hosts that it leads to, as where all send to all:
// else the links next to the host, where everything meets, would be all that counts.
//
// J. Zhou et al., WCMP: weighted cost multipathing for improved fairness in data centers, EuroSys 2014, weigh
// next hops by the capacity that is there through them; how it is shared out where switches meet is said here
// as above.
class PathWeights {
 public:
  explicit PathWeights(const PlanSetup& setup);
  // The shares of the rates that links were built with, by channel; empty: all of them. Then, or with other
  // links down, repair(): weights are worked out anew.
  void set_rate_shares(std::span<const double> rate_shares);
  void repair(const std::vector<bool>& down_links);

  // What each of these next channels can carry towards the host alone, in bit/s, in their order. May be asked
  // from several threads.
  std::vector<double> capacities(std::uint32_t host, std::span<const std::uint32_t> channels) const;
  std::uint32_t version() const { return version_; }
  const topologies::Topology& topology() const { return topology_; }
  // Hosts of one unit have the same ways up to the last switches.
  std::uint32_t unit_of(std::uint32_t host) const { return unit_of_[host]; }
  std::uint32_t units() const { return units_; }

 private:
  const RoutingTable& table() const { return repaired_ != nullptr ? *repaired_ : original_; }
  void find_units(const std::vector<bool>& down_links);
  void count_hosts() const;
  // What a channel carries towards each of the hosts that it leads to.
  double rate(std::uint32_t channel) const { return rate_[channel] / std::max(leads_to_[channel], 1u); }
  // `known`: what is known of the host's unit, by vertex.
  struct Known;
  double through(std::uint32_t channel, std::uint32_t host, Known* known) const;
  double most_of_each(std::uint32_t at, std::uint32_t host, Known* known) const;
  bool leads(std::uint32_t channel, std::uint32_t host) const;
  bool is_used(std::uint32_t at, std::uint32_t host, Known* known) const;

  const topologies::Topology& topology_;
  const RoutingTable& original_;
  std::unique_ptr<RoutingTable> repaired_;  // null: all links are up
  std::uint32_t version_ = 0;
  std::vector<double> rate_;            // by channel, bit/s
  std::vector<bool> has_hosts_;         // by vertex
  std::vector<std::uint32_t> unit_of_;  // by host
  std::uint32_t units_ = 0;

  // What is known of the units that were asked for last: by slot, and in that by vertex. As many slots as
  // take some 64 MB; a unit's is its number modulo how many there are.
  struct Known {
    double most = 0;
    bool knows_most = false, knows_used = false, used = false;
  };
  static constexpr std::size_t kMostKnown = 1 << 22;
  Known* known_of(std::uint32_t host) const;

  mutable std::mutex mutex_;
  mutable std::vector<Known> known_;
  mutable std::vector<std::uint32_t> unit_in_;   // by slot; UINT32_MAX: none
  mutable std::vector<std::uint32_t> leads_to_;  // by channel: to so many hosts; empty: not counted so far
};

// All shortest paths, with these weights. What leads to links that are down, as far as PlanSetup::rate_shares
// tells, is left out.
class WeightedPaths final : public PathModel {
 public:
  explicit WeightedPaths(const PlanSetup& setup)
      : rate_shares_(setup.rate_shares.begin(), setup.rate_shares.end()), setup_(setup) {
    setup_.rate_shares = rate_shares_;
  }
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  bool tells_hosts_apart() const override { return false; }

 private:
  const std::vector<double> rate_shares_;
  PlanSetup setup_;
  // Made when it is first needed: it takes up to 64 MB, and some only ask whether there are paths.
  mutable std::once_flag once_;
  mutable std::unique_ptr<const PathWeights> weights_;
};

std::unique_ptr<PathModel> weighted_paths(const PlanSetup& setup);

// One switch's draws by weight. Remembers the weights towards hosts that it has sent to.
class WeightedDraw {
 public:
  WeightedDraw(const PathWeights& weights, topologies::Vertex at) : weights_(&weights), at_(at) {}
  // The port for a number drawn evenly from 0 to 2^32 - 1.
  std::uint32_t pick(std::uint32_t host, std::span<const std::uint32_t> ports, std::uint32_t drawn) {
    if (version_ != weights_->version()) [[unlikely]]
      forget();
    const std::uint16_t known = number_of(host);
    // A choice of two or more, and nothing known of it yet.
    const std::uint16_t number = known == kUnknown ? learn(host, ports) : known;
    if (number == kEven) [[likely]]
      return ports[std::uint64_t{drawn} * ports.size() >> 32];
    return draw(number, host, ports, drawn);
  }

 private:
  // Numbers of entries.
  static constexpr std::uint16_t kEven = 0, kUnknown = UINT16_MAX;
  struct Entry {
    std::vector<std::uint32_t> ports;  // that these are of
    std::vector<std::uint32_t> up_to;  // in 2^32: the port is taken by what is drawn below; empty: even odds
  };

  std::uint16_t number_of(std::uint32_t host) const {
    const std::uint32_t unit = weights_->unit_of(host);
    if (!dense_.empty()) [[likely]]
      return dense_[unit];
    const auto found = sparse_.find(unit);
    return found == sparse_.end() ? kUnknown : found->second;
  }
  void forget();
  std::uint16_t learn(std::uint32_t host, std::span<const std::uint32_t> ports);
  std::uint16_t weigh(std::uint32_t host, std::span<const std::uint32_t> ports);
  std::uint32_t draw(std::uint16_t number, std::uint32_t host, std::span<const std::uint32_t> ports,
                     std::uint32_t drawn);

  const PathWeights* weights_;
  topologies::Vertex at_;
  std::uint32_t version_ = 0;
  // Numbers of entries by unit; which of the two depends on the network's size.
  std::vector<std::uint16_t> dense_;
  std::unordered_map<std::uint32_t, std::uint16_t> sparse_;
  std::unordered_map<std::uint32_t, std::uint16_t> of_host_;  // of hosts with several cables to this switch
  std::vector<Entry> entries_;                                // by number
};

}  // namespace weft::routing
