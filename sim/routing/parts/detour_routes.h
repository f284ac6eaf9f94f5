// Ways by an intermediate host's switch: what Valiant's routing and its adaptive relatives share.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "sim/routing/parts/group_routes.h"
#include "sim/routing/path_model.h"
#include "sim/routing/switch_plan.h"
#include "sim/routing/table/home_switches.h"

namespace weft::routing {

// Both parts of such a way are minimal: in networks of linked groups as GroupRoutes has it, else by the
// network's table. An intermediate node is named by a host, and reached at any switch that this is cabled to.
// "Cabled" means a host's HomeSwitches: inside machines of several accelerators packets only go to their NICs
// and from them, and ways between outer switches don't lead through machines.
class DetourRoutes {
 public:
  explicit DetourRoutes(const PlanSetup& setup) : DetourRoutes(setup.topology, setup.table) {}
  DetourRoutes(const topologies::Topology& topology, const RoutingTable& table);
  // Throws InputError for networks whose detours could lead through machines of several accelerators.
  static void check(const topologies::Topology& topology);
  void rebuild(const std::vector<bool>& down_links);

  const topologies::Topology& topology() const { return topology_; }
  bool linked_groups() const { return groups_ != nullptr; }
  std::uint32_t hosts() const { return topology_.hosts(); }
  bool cabled(std::uint32_t switch_index, std::uint32_t host) const {
    if (home_[host] != kSeveral) [[likely]]
      return home_[host] == switch_index;
    return is_among(switches_of(host), switch_index);
  }
  // Has the host one cable only, and does it lead to this switch?
  bool is_home(std::uint32_t switch_index, std::uint32_t host) const {
    return home_[host] == switch_index && home_port_[host] != kNoPort;
  }
  // The switches that a host is cabled to.
  std::span<const std::uint32_t> switches_of(std::uint32_t host) const {
    return {switch_of_.data() + begin_[host], switch_of_.data() + begin_[host + 1]};
  }
  std::uint32_t group_of(std::uint32_t switch_index) const {
    return topology_.node(topology_.switch_at(switch_index)).group;
  }
  // The machine that a switch is inside of, where packets go out by `exits`; kNoDomain.
  std::uint32_t domain_of(std::uint32_t switch_index) const {
    return outer_ ? topology_.node(topology_.switch_at(switch_index)).domain : topologies::kNoDomain;
  }
  std::uint32_t domain_of_host(std::uint32_t host) const {
    return topology_.node(topology_.host(host)).domain;
  }
  std::span<const std::uint32_t> exits(std::uint32_t switch_index) const {
    return {exits_.data() + exits_begin_[switch_index], exits_.data() + exits_begin_[switch_index + 1]};
  }
  // Links from a switch to the nearest that the host is cabled to; as built, or as rebuilt for groups. A
  // large number where there is no way.
  std::uint32_t links(std::uint32_t switch_index, std::uint32_t host) const;
  // And from a host's switch, the nearest, to another host's.
  std::uint32_t links_between(std::uint32_t host, std::uint32_t other) const;
  // The most that links() can be, where groups are linked and machines have one accelerator; else 0: that
  // takes following ways.
  std::uint32_t most_links() const {
    return groups_ != nullptr && !topology_.has_domains() ? groups_->most_links() : 0;
  }
  // The ports of a switch, which `here` is of, on the way to a host that isn't cabled to it; none whose link
  // is down. `ports`: where they are put if need be; good until the next call of this or here.minimal().
  std::span<const std::uint32_t> next(OwnSwitch& here, std::uint32_t switch_index, std::uint32_t host,
                                      std::vector<std::uint32_t>& ports) const;
  // The ports of a switch on the way to a host, as far as they are listed already; fetches what next() reads.
  std::span<const std::uint32_t> foresee(std::uint32_t switch_index, std::uint32_t host) const {
    if (groups_ == nullptr) return {};
    return groups_->ports(switch_index, host);
  }
  // The port to a host with one cable, of the switch at its end.
  std::span<const std::uint32_t> home_port(std::uint32_t host) const { return {&home_port_[host], 1}; }
  Lookup lookup() const {
    if (groups_ == nullptr) return {};
    Lookup lookup = groups_->lookup();
    lookup.by_via = true;
    return lookup;
  }
  // The ports of all ways, links up as built or rebuilt. `room`: where they are put if need be.
  std::span<const std::uint32_t> ports(std::uint32_t switch_index, std::uint32_t host,
                                       std::vector<std::uint32_t>& room) const;
  // Their channels.
  void channels(std::uint32_t switch_index, std::uint32_t host, std::vector<std::uint32_t>& channels) const;

 private:
  static constexpr std::uint32_t kSeveral = UINT32_MAX, kNoPort = UINT32_MAX;
  void find_cabled();
  void find_homes(const HomeSwitches& homes);
  static bool is_among(std::span<const std::uint32_t> switches, std::uint32_t switch_index);

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  std::unique_ptr<GroupRoutes> groups_;             // null: groups don't matter
  std::vector<std::uint32_t> begin_, switch_of_;    // switches by host
  std::vector<std::uint32_t> home_;                 // by host: its switch, or kSeveral
  std::vector<std::uint32_t> home_port_;            // by host: that switch's port to it; kNoPort: over NICs
  bool outer_ = false;                              // HomeSwitches::outer()
  std::vector<std::uint32_t> exits_begin_, exits_;  // ports, by switch
};

// First to a host, then on: state 0 up to its switch, 1 behind.
class DetourPaths final : public PathModel {
 public:
  struct Rules {
    double minimal = 0;          // the share of packets without a detour, in state 1
    bool by_rates = false;       // switches go by their queues (PortRates); else evenly
    bool within_groups = false;  // detours_within_groups()
  };
  DetourPaths(const PlanSetup& setup, Rules rules)
      : topology_(setup.topology),
        table_(setup.table),
        rate_shares_(setup.rate_shares.begin(), setup.rate_shares.end()),
        rules_(rules) {
    DetourRoutes::check(topology_);
    if (topology_.has_domains()) homes_ = std::make_unique<const HomeSwitches>(topology_);
  }
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  PathState behind_detour(PathState) const override { return 1; }
  // Those of two legs.
  std::uint32_t most_links() const override { return 2 * routes().most_links(); }
  bool detours_within_groups() const override { return rules_.within_groups; }
  bool tells_hosts_apart() const override { return false; }
  std::uint32_t states() const override { return 2; }

 private:
  const DetourRoutes& routes() const;

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  const std::vector<double> rate_shares_;  // by channel: PlanSetup's
  // Made when it is first needed: in large networks that takes seconds, and some only ask whether there are
  // paths.
  mutable std::once_flag once_;
  mutable std::unique_ptr<const DetourRoutes> routes_;
  const Rules rules_;
  std::unique_ptr<const HomeSwitches> homes_;  // null: no machines of several accelerators
};

// One switch's part of such policies.
class DetourPolicy : public SwitchPolicy {
 public:
  DetourPolicy(const DetourRoutes& routes, std::uint32_t switch_index)
      : routes_(routes),
        index_(switch_index),
        group_(routes.group_of(switch_index)),
        domain_(routes.domain_of(switch_index)) {}
  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) final;
  Foreseen foresee(const Coming& packet) const final;

 protected:
  // What RouteNote::phase says of a packet.
  enum Phase : std::uint8_t {
    kFresh,      // it has just come from its host
    kDetour,     // on its way to RouteNote::via
    kMinimal,    // on its way to its destination
    kUndecided,  // the same, but it may still take a detour
    kPlain,      // the same, on the network's shortest paths: others have failed
  };
  // A packet's way: its phase, where it goes by, and the port if that is chosen already.
  struct Decision {
    static constexpr std::uint32_t kAnyPort = UINT32_MAX;
    Phase phase = kMinimal;
    std::uint32_t via = RouteNote::kNowhere;
    std::uint32_t port = kAnyPort;
  };
  // Decides for a packet that has just come from its host, or is undecided. `minimal`: ports on minimal ways.
  virtual Decision decide(const PacketView& packet, const RouteNote& note,
                          std::span<const std::uint32_t> minimal, ActiveSwitch& here) = 0;
  // One of these ports.
  virtual std::uint32_t pick(const PacketView& packet, std::span<const std::uint32_t> ports,
                             ActiveSwitch& here) = 0;
  // A detour is over as soon as a packet is in the group of the host that it goes by.
  void end_detours_in_group() { by_group_ = true; }

  const DetourRoutes& routes_;
  const std::uint32_t index_, group_;
  std::vector<std::uint32_t> detour_ports_;  // for decide()

 private:
  bool detour_is_over(std::uint32_t via) const;
  Output choose_inside(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                       ActiveSwitch& here);

  const std::uint32_t domain_;  // the machine that it is inside of
  bool by_group_ = false;
  std::vector<std::uint32_t> ports_;
};

}  // namespace weft::routing
