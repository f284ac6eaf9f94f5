#include "sim/routing/policies/ugal.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/parts/detour_routes.h"
#include "sim/routing/parts/port_choice.h"

namespace weft::routing {
namespace {

struct UgalRules {
  std::uint32_t minimal_ports = 0;  // looked at; 0: all
  std::uint32_t detours = 1;        // drawn
  double weight = 1;
  Time bias;
  bool progressive = false;
  bool within_groups = false;  // detours within a group of linked ones stay there
};

// Lists the hosts of each of the linked groups.
std::vector<std::vector<std::uint32_t>> hosts_by_group(const DetourRoutes& routes) {
  std::vector<std::vector<std::uint32_t>> hosts;
  for (std::uint32_t host = 0; host < routes.hosts(); ++host) {
    const std::uint32_t group = routes.group_of(routes.switches_of(host).front());
    if (hosts.size() <= group) hosts.resize(group + 1);
    hosts[group].push_back(host);
  }
  return hosts;
}

// What switches have told of their ports.
class Board {
 public:
  static constexpr std::size_t kPorts = 64;
  static constexpr std::size_t kPortsOfWord = 4;

  explicit Board(const topologies::Topology& topology) : told_(topology.switches()) {
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      first_.push_back(static_cast<std::uint32_t>(behind_.size()));
      for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
        behind_.push_back(topology.node(topology.channels()[c].to).index);
      }
    }
  }
  void tell(std::span<const Snapshot> snapshots) { told_.assign(snapshots.begin(), snapshots.end()); }
  // In steps of `unit`, rounded down.
  Time load(std::uint32_t s, std::uint32_t port, Time unit) const {
    if (port >= kPorts) return Time();
    const std::uint32_t word = told_[s].words[port / kPortsOfWord];
    return unit * static_cast<std::int64_t>(word >> port % kPortsOfWord * 8 & 0xFF);
  }

  // The switch at the end of a port.
  std::uint32_t behind(std::uint32_t s, std::uint32_t port) const { return behind_[first_[s] + port]; }

 private:
  std::vector<Snapshot> told_;         // by switch
  std::vector<std::uint32_t> first_;   // into behind_, by switch
  std::vector<std::uint32_t> behind_;  // by switch and port
};

// The loads of a whole way, as far as they are known at its first switch.
class GlobalLoads {
 public:
  GlobalLoads(const DetourRoutes& routes, const Board& board, Time unit)
      : routes_(routes), board_(board), unit_(unit) {}

  // From a switch, by ports drawn at random, to a host's switch; `at` is that switch then.
  Time along(std::uint32_t& at, std::uint32_t host, sim::RandomStream& random) {
    Time sum;
    while (!routes_.cabled(at, host)) {
      const auto ports = routes_.ports(at, host, ports_);
      if (ports.empty()) return kNever;
      const std::uint32_t port = ports[random.below(ports.size())];
      sum = sum + board_.load(at, port, unit_);
      at = behind(at, port);
    }
    return sum;
  }
  std::uint32_t behind(std::uint32_t s, std::uint32_t port) const { return board_.behind(s, port); }

  Snapshot publish(OwnSwitch& here) const {
    Snapshot snapshot;
    const std::uint32_t ports = std::min<std::uint32_t>(here.ports(), Board::kPorts);
    for (std::uint32_t port = 0; port < ports; ++port) {
      const std::int64_t steps = load_of(port, here).ps() / unit_.ps();
      const auto byte = static_cast<std::uint32_t>(std::min<std::int64_t>(steps, 0xFF));
      snapshot.words[port / Board::kPortsOfWord] |= byte << port % Board::kPortsOfWord * 8;
    }
    return snapshot;
  }

 private:
  static constexpr Time kNever = Time::us(1'000'000);

  const DetourRoutes& routes_;
  const Board& board_;
  const Time unit_;
  std::vector<std::uint32_t> ports_;
};

class Ugal final : public DetourPolicy {
 public:
  Ugal(const DetourRoutes& routes, std::uint32_t switch_index, const UgalRules& rules,
       std::unique_ptr<GlobalLoads> global, std::span<const std::uint32_t> neighbours,
       sim::RandomStream random)
      : DetourPolicy(routes, switch_index),
        rules_(rules),
        global_(std::move(global)),
        neighbours_(neighbours),
        random_(random) {}

  Snapshot publish(OwnSwitch& here) override {
    return global_ != nullptr ? global_->publish(here) : Snapshot();
  }
  Signals signals() const override { return {{"detoured_packet", detoured_}, {"minimal_packet", minimal_}}; }

 private:
  struct Candidate {
    std::uint32_t port = 0;
    double cost = 0;  // in ps
  };

  Decision decide(const PacketView& packet, const RouteNote& note, std::span<const std::uint32_t> minimal,
                  ActiveSwitch& here) override {
    if (note.phase == kUndecided && !asks_again(packet)) return {};
    const Candidate direct = best_minimal(packet, minimal, here);  // `minimal` is not good from here on
    const Phase stays = rules_.progressive ? kUndecided : kMinimal;
    Decision decision{.phase = stays, .port = direct.port};
    double least = direct.cost - static_cast<double>(rules_.bias.ps());
    if (least > 0) {
      for (std::uint32_t i = 0; i < rules_.detours; ++i) {
        const std::uint32_t via = draw(packet.destination);
        if (routes_.cabled(index_, via)) continue;
        const auto ports = routes_.next(here, index_, via, detour_ports_);
        if (ports.empty()) continue;
        const Candidate detour = by_way_of(packet, via, ports, here);
        if (detour.cost >= least) continue;
        least = detour.cost;
        decision = {.phase = kDetour, .via = via, .port = detour.port};
      }
    }
    // Counted once, at the source's switch; less those that change their minds.
    if (decision.phase == kDetour) {
      ++detoured_;
    } else if (note.phase == kFresh) {
      ++minimal_;
    }
    return decision;
  }

  // The host that a detour goes by.
  std::uint32_t draw(std::uint32_t destination) {
    if (neighbours_.empty() || routes_.group_of(routes_.switches_of(destination).front()) != group_) {
      return static_cast<std::uint32_t>(random_.below(routes_.hosts()));
    }
    return neighbours_[random_.below(neighbours_.size())];
  }

  // Is a packet that has gone minimally so far to decide again here?
  bool asks_again(const PacketView& packet) const {
    if (routes_.linked_groups())
      return routes_.group_of(routes_.switches_of(packet.source).front()) == group_;
    for (const std::uint32_t s : routes_.switches_of(packet.source)) {
      if (routes_.links(s, packet.destination) == routes_.links(index_, packet.destination) + 1) return true;
    }
    return false;
  }

  Candidate best_minimal(const PacketView& packet, std::span<const std::uint32_t> minimal,
                         ActiveSwitch& here) {
    if (rules_.minimal_ports > 0 && minimal.size() > rules_.minimal_ports) {
      drawn_.clear();
      for (std::uint32_t i = 0; i < rules_.minimal_ports; ++i) {
        drawn_.push_back(minimal[random_.below(minimal.size())]);
      }
      minimal = drawn_;
    }
    const std::uint32_t port = least_loaded(minimal, here);
    const double load = static_cast<double>(load_of(port, here).ps());
    if (load == 0 && global_ == nullptr) return {port, 0};
    if (global_ != nullptr) {
      std::uint32_t at = global_->behind(index_, port);
      return {port, load + static_cast<double>(global_->along(at, packet.destination, random_).ps())};
    }
    return {port, load * routes_.links(index_, packet.destination)};
  }

  Candidate by_way_of(const PacketView& packet, std::uint32_t via, std::span<const std::uint32_t> ports,
                      ActiveSwitch& here) {
    const std::uint32_t port = least_loaded(ports, here);
    const double load = static_cast<double>(load_of(port, here).ps());
    if (global_ != nullptr) {
      std::uint32_t at = global_->behind(index_, port);
      const Time first = global_->along(at, via, random_);
      const Time second = global_->along(at, packet.destination, random_);
      return {port, rules_.weight * (load + static_cast<double>((first + second).ps()))};
    }
    const std::uint32_t links = routes_.links(index_, via) + routes_.links_between(via, packet.destination);
    return {port, rules_.weight * load * links};
  }

  std::uint32_t pick(const PacketView&, std::span<const std::uint32_t> ports, ActiveSwitch& here) override {
    return ports.size() == 1 ? ports.front() : least_loaded(ports, here);
  }

  const UgalRules rules_;
  const std::unique_ptr<GlobalLoads> global_;        // null: own ports only
  const std::span<const std::uint32_t> neighbours_;  // the group's hosts, if its own detours stay there
  sim::RandomStream random_;
  std::vector<std::uint32_t> drawn_;
  std::uint64_t detoured_ = 0, minimal_ = 0;
};

class UgalPlan final : public SwitchPlan {
 public:
  // `unit`: of what switches tell; 0: nothing.
  UgalPlan(const PlanSetup& setup, const UgalRules& rules, Time unit)
      : rules_(rules), routes_(setup), unit_(unit) {
    DetourRoutes::check(setup.topology);
    if (unit > Time()) board_.emplace(setup.topology);
    if (rules.within_groups && routes_.linked_groups()) neighbours_ = hosts_by_group(routes_);
  }
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream random) const override {
    std::unique_ptr<GlobalLoads> global;
    if (unit_ > Time()) global = std::make_unique<GlobalLoads>(routes_, *board_, unit_);
    const std::uint32_t group = routes_.group_of(switch_index);
    std::span<const std::uint32_t> neighbours;
    if (group < neighbours_.size()) neighbours = neighbours_[group];
    return std::make_unique<Ugal>(routes_, switch_index, rules_, std::move(global), neighbours, random);
  }
  void reconverge(const std::vector<bool>& down_links) override { routes_.rebuild(down_links); }
  Lookup lookup() const override { return routes_.lookup(); }
  bool told(std::span<const Snapshot> snapshots) override {
    board_->tell(snapshots);
    return true;
  }

 private:
  const UgalRules rules_;
  DetourRoutes routes_;
  const Time unit_;
  std::optional<Board> board_;  // where switches tell something
  std::vector<std::vector<std::uint32_t>> neighbours_;
};

const ParameterSpec kDetours{"detours", ParameterType::kInteger, "1",
                             "Hosts drawn to go by the switch of, of which the best counts.",
                             from_to("1", "16")};
const ParameterSpec kWeight{"weight", ParameterType::kReal, "1",
                            "What the load of a detour is multiplied by: above 1 minimal ways are preferred.",
                            from_to("0", "1000000")};
const ParameterSpec kBias{"bias", ParameterType::kTime, "0ns",
                          "What minimal ways may cost more than a detour, in time of waiting times links."};

UgalRules ugal_rules_of(const Parameters& parameters) {
  return {.detours = parameters.whole("detours"),
          .weight = parameters.real("weight"),
          .bias = parameters.time("bias")};
}

// Remarks on policies that decide once, by the ports of the first switch.
std::string blind_between_groups(const char* policy, const PlanSetup& setup) {
  if (!setup.topology.linked_groups()) return "";
  return fmt::format(
      "routing policy {} decides by the queues of a packet's first switch, and full links between groups of "
      "a {} "
      "are at other switches: they show late, when all buffers before them are full, and not at all where "
      "senders react to marks first; par decides again in the group",
      policy, setup.topology.name().substr(0, setup.topology.name().find(':')));
}

Policy adaptive(ModuleInfo info) {
  return {.info = std::move(info),
          .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
            return std::make_unique<UgalPlan>(setup, ugal_rules_of(setup.parameters), Time());
          },
          .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
            return std::make_unique<DetourPaths>(setup, DetourPaths::Rules{.minimal = 1, .by_rates = true});
          },
          .fluid = FluidPaths::kBalanced,
          .rate_news = RateNews::kAtOnce,
          .asks = {.control = false, .single = true, .own_ports = true, .foresees = true, .notes = true},
          .order = KeepsOrder::kNo,
          .longest_path = 2,
          .paths_remark = "shares are those of an idle network; under load packets take the detours"};
}

}  // namespace

Policy ugal() {
  Policy policy = adaptive(
      {.name = "ugal",
       .summary = "Each packet goes minimally or by a switch drawn at random, by the queues at its "
                  "first switch.",
       .source = "A. Singh, Load-balanced routing in interconnection networks, PhD thesis, Stanford, "
                 "2005; J. Kim, W. J. Dally, S. Scott, D. Abts, ISCA 2008",
       .parameters = {kDetours, kWeight, kBias}});
  policy.remark = [](const PlanSetup& setup) { return blind_between_groups("ugal", setup); };
  return policy;
}

Policy ugal_g() {
  Policy policy =
      adaptive({.name = "ugal_g",
                .summary = "UGAL that knows the queues of all switches, as they were a moment ago.",
                .source = "J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-driven, "
                          "highly-scalable Dragonfly topology, ISCA 2008",
                .parameters = {kDetours,
                               kWeight,
                               kBias,
                               {"step", ParameterType::kTime, "100ns",
                                "What loads are told in multiples of, up to 255.", above("0")}}});
  policy.make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
    return std::make_unique<UgalPlan>(setup, ugal_rules_of(setup.parameters), setup.parameters.time("step"));
  };
  policy.asks.snapshot_period = Time::us(1);
  policy.asks.snapshot_delay = Time::us(1);
  return policy;
}

Policy par() {
  // With one, packets that find the only way drawn no better stay on full links between groups.
  const ParameterSpec detours{kDetours.name, kDetours.type, "2", kDetours.help, kDetours.limits};
  Policy policy =
      adaptive({.name = "par",
                .summary = "UGAL that may still change its mind in the source's group.",
                .source = "N. Jiang, J. Kim, W. J. Dally, Indirect adaptive routing on large scale "
                          "interconnection networks, ISCA 2009",
                .parameters = {detours, kWeight, kBias}});
  policy.make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
    UgalRules rules = ugal_rules_of(setup.parameters);
    rules.progressive = true;
    return std::make_unique<UgalPlan>(setup, rules, Time());
  };
  policy.longest_path = 3;
  policy.paths_remark =
      "shares are those of an idle network; under load packets take the detours, which may begin later";
  return policy;
}

Policy slingshot() {
  const ParameterSpec detours{kDetours.name, kDetours.type, "2", kDetours.help, kDetours.limits};
  const ParameterSpec weight{kWeight.name, kWeight.type, "2", kWeight.help, kWeight.limits};
  Policy policy = adaptive({.name = "slingshot",
                            .summary = "Adaptive routing in the manner of Slingshot: two minimal ways, two "
                                       "detours, minimal ones preferred.",
                            .source = "D. De Sensi, S. Di Girolamo, K. H. McMahon, D. Roweth, T. Hoefler, An "
                                      "in-depth analysis of the Slingshot interconnect, SC 2020",
                            .parameters = {detours, weight, kBias}});
  policy.make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
    UgalRules rules = ugal_rules_of(setup.parameters);
    rules.minimal_ports = 2;
    rules.within_groups = true;
    return std::make_unique<UgalPlan>(setup, rules, Time());
  };
  policy.make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
    return std::make_unique<DetourPaths>(
        setup, DetourPaths::Rules{.minimal = 1, .by_rates = true, .within_groups = true});
  };
  policy.remark = [](const PlanSetup& setup) { return blind_between_groups("slingshot", setup); };
  return policy;
}

}  // namespace weft::routing
