// Ways through networks with machines of several accelerators: what they cost, and a search for the least.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/routing/table/switch_links.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Within a domain (Node::domain) only links inside count while there is a way over them, the fewest of them.
// Between domains, and from and to hosts in none:
// - if domains relay, the fewest links outside, then the fewest inside the destination's domain, then the
//   fewest inside others. So a message crosses to the accelerator whose NIC saves links at its sender's side,
//   as with NCCL's PXN, and at the receiver's only where it must;
// - if they don't, the fewest links inside domains, then the fewest in all.
class DomainCosts {
 public:
  static constexpr std::uint32_t kFar = UINT32_MAX;

  // Null if the topology has no domains.
  static std::unique_ptr<const DomainCosts> make(const topologies::Topology& topology);

  std::uint32_t domain_of_switch(std::uint32_t s) const { return switch_domain_[s]; }
  std::uint32_t domain_of_host(std::uint32_t host) const { return host_domain_[host]; }
  // Gives the cost of a link between nodes of domains a and b, on the way to a host of domain `destination`.
  std::uint32_t of_link(std::uint32_t a, std::uint32_t b, std::uint32_t destination) const {
    if (a != b || a == topologies::kNoDomain) return outside_;
    return a == destination ? inside_own_ : inside_other_;
  }
  // Gives the cost of a way from a host over its link to switch s, and on at the cost `further`, to another
  // host. Within a domain ways that leave it cost more than all that don't.
  std::uint32_t from_host(std::uint32_t host, std::uint32_t s, std::uint32_t further,
                          std::uint32_t destination) const {
    const std::uint32_t from = host_domain_[host], to = host_domain_[destination];
    const std::uint32_t all = of_link(from, switch_domain_[s], to) + further;
    if (from == topologies::kNoDomain || from != to) return all;
    return switch_domain_[s] == from && stays_inside(further) ? all : all + kFar / 2;
  }
  std::uint32_t outside() const { return outside_; }
  std::uint32_t inside_own() const { return inside_own_; }
  std::uint32_t inside_other() const { return inside_other_; }
  std::size_t memory_bytes() const {
    return (switch_domain_.capacity() + host_domain_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  // Whether there is no link outside on a way of this cost.
  bool stays_inside(std::uint32_t cost) const {
    return outside_ > inside_own_ ? cost < outside_ : cost % inside_own_ == 0;
  }

  std::vector<std::uint32_t> switch_domain_, host_domain_;
  // One of what counts more is worth more than a way has of what counts less: 127 links inside the
  // destination's domain, 63 inside others; 1,023 outside where domains don't relay.
  std::uint32_t outside_ = 8192, inside_own_ = 64, inside_other_ = 1;
};

// Costs of all switches to a destination, as columns have them: two bytes each, the remainder by kCostModulo,
// kNoCost where there is no way. Those of linked switches differ by far less, so that it tells which links
// are on a way that costs least.
inline constexpr std::uint32_t kCostModulo = 1U << 15;
inline constexpr std::uint16_t kNoCost = UINT16_MAX;

// The search of Dijkstra from up to 64 destinations at once, a bit of a word for each.
class DomainSearch {
 public:
  static constexpr std::uint32_t kWidth = 64;

  // All must outlive it. `down_links`: by link, those not to use; empty: none is down.
  DomainSearch(const SwitchLinks& links, const DomainCosts& costs, const std::vector<bool>& down_links)
      : links_(links),
        costs_(costs),
        down_links_(down_links),
        seen_(links.switches()),
        cost_(std::size_t{links.switches()} * kWidth) {}

  // `domains`: of each destination.
  void start(std::vector<std::uint32_t> domains);
  // The switch is next to the destination.
  void seed(std::uint32_t s, std::uint32_t destination);
  void run();

  std::uint32_t cost(std::uint32_t s, std::uint32_t destination) const {
    return cost_[std::size_t{s} * kWidth + destination];
  }
  std::uint64_t reached(std::uint32_t s) const { return seen_[s]; }
  std::uint32_t domain(std::uint32_t destination) const { return domains_[destination]; }
  // The destinations to which the link is on a way of s that costs least.
  std::uint64_t nearer(std::uint32_t s, const SwitchLink& link) const;
  // Writes the columns of the first destinations, each where `columns` says.
  void write_columns(std::span<std::uint8_t* const> columns) const;

 private:
  // What is reached at one cost. Destinations that come to a switch over several links go on together.
  struct Front {
    std::vector<std::uint64_t> destinations;  // by switch
    std::vector<std::uint32_t> switches;      // that have some
  };
  using Queue = std::map<std::uint32_t, Front>;  // by cost

  void push(Queue& queue, std::uint32_t cost, std::uint32_t s, std::uint64_t destinations);
  // Calls visit(switch, destinations, cost) for what is reached at the least cost.
  template <typename Visit>
  void take_first(Queue& queue, Visit&& visit);
  std::uint64_t own_of(std::uint32_t domain) const;
  std::uint64_t settle(std::uint32_t s, std::uint64_t destinations, std::uint32_t cost);
  void settle_inside();
  void step(std::uint32_t s, std::uint64_t fresh, std::uint32_t cost, bool leaves_own);

  const SwitchLinks& links_;
  const DomainCosts& costs_;
  const std::vector<bool>& down_links_;
  std::vector<std::uint32_t> domains_;              // by destination
  std::map<std::uint32_t, std::uint64_t> members_;  // by domain: its destinations
  Queue inside_, queue_;
  std::vector<Front> spare_;         // without switches
  std::vector<std::uint64_t> seen_;  // by switch
  std::vector<std::uint32_t> cost_;  // [switch][destination]
};

inline std::size_t cost_column_bytes(std::uint32_t switches) { return std::size_t{switches} * 2; }
inline std::uint32_t cost_in(const std::uint8_t* column, std::uint32_t s) {
  return column[2 * std::size_t{s}] | std::uint32_t{column[2 * std::size_t{s} + 1]} << 8;
}
// Whether a link that costs `link` leads from a switch of cost `own` to one of cost `next` on a way that
// costs least, both as columns have them.
inline bool is_on_way(std::uint32_t own, std::uint32_t next, std::uint32_t link) {
  return own != kNoCost && next != kNoCost && (next + link) % kCostModulo == own;
}

}  // namespace weft::routing
