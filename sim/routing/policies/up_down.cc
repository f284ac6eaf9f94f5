#include "sim/routing/policies/up_down.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/routing/parts/legal_ways.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

class UpDownPlan;

class UpDown final : public SwitchPolicy {
 public:
  UpDown(const UpDownPlan& plan, std::uint32_t s, std::uint64_t salt)
      : plan_(plan), salt_(salt), switch_(s) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override;

 private:
  // Ports in the pool.
  struct Set {
    std::uint32_t first = 0, count = 0;
  };
  // What is known of a destination: kUnknown, kCable, a set, or kRun and ports that follow each other: their
  // number in the lowest bits, then the first of them.
  static constexpr std::uint16_t kUnknown = 0, kCable = 1, kFirstSet = 2, kRun = 0x8000;
  static constexpr std::uint32_t kCountBits = 6, kMostInRun = (1 << kCountBits) - 1;
  static constexpr std::uint32_t kLastFirst = (kRun >> kCountBits) - 1;

  void begin();
  std::uint16_t find(bool descending, std::uint32_t destination);
  std::uint32_t port(std::uint16_t code, std::uint32_t i) const {
    if (code & kRun) return ((code & ~kRun) >> kCountBits) + i;
    return pool_[sets_[code - kFirstSet].first + i];
  }
  std::uint32_t count(std::uint16_t code) const {
    return code & kRun ? code & kMostInRun : sets_[code - kFirstSet].count;
  }
  bool comes_down(std::uint32_t port) const {
    return port < 64 ? first_ports_down_ >> port & 1 : comes_down_[port] != 0;
  }
  Output pick_up(std::uint16_t code, const PacketView& packet, ActiveSwitch& here);

  // What every packet takes comes first.
  const UpDownPlan& plan_;
  // By destination, then the same for packets that were led down, as they are asked for.
  std::vector<std::uint16_t> known_;
  std::uint64_t first_ports_down_ = 0;  // bits: packets that come in through these ports were led down
  const std::uint64_t salt_;
  std::uint32_t version_ = 0;  // of the plan that the rest follows from
  const std::uint32_t switch_;
  std::vector<std::uint8_t> comes_down_;  // of all ports
  std::vector<Set> sets_;
  std::map<std::vector<std::uint32_t>, std::uint16_t> codes_;  // of sets
  std::vector<std::uint32_t> pool_, left_;
};

class UpDownPlan final : public SwitchPlan {
 public:
  explicit UpDownPlan(const PlanSetup& setup)
      : setup_(setup), root_(setup.parameters.text("root")), ways_(make({})) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t s, sim::RandomStream) const override {
    return std::make_unique<UpDown>(*this, s, switch_salt(setup_.seed, s));
  }
  void reconverge(const std::vector<bool>& down_links) override {
    ways_ = make(down_links);
    ++version_;
  }
  const Topology& topology() const { return setup_.topology; }
  const LegalWays& ways() const { return *ways_; }
  std::uint32_t version() const { return version_; }

 private:
  std::unique_ptr<const LegalWays> make(const std::vector<bool>& down_links) const {
    return std::make_unique<LegalWays>(setup_, root_, down_links);
  }

  const PlanSetup setup_;
  const std::string root_;
  std::unique_ptr<const LegalWays> ways_;
  std::uint32_t version_ = 1;
};

// State 1: a link has led the packet down.
class UpDownPaths final : public PathModel {
 public:
  explicit UpDownPaths(const PlanSetup& setup)
      : topology_(setup.topology), ways_(setup, setup.parameters.text("root"), setup.table.down_links()) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const std::uint32_t s = topology_.node(at).index, destination = ways_.destinations().of(host);
    std::vector<std::uint32_t> channels;
    const bool arrived = ways_.destinations().ends_at(s, destination);
    if (arrived) {
      add_cables(topology_, ways_.down_links(), s, host, channels);
    } else {
      ways_.next(s, state == 1, destination, channels);
    }
    for (const std::uint32_t c : channels) {
      steps.push_back({.channel = c,
                       .share = 1.0 / static_cast<double>(channels.size()),
                       .state = static_cast<PathState>(arrived || ways_.leads_up(c) ? 0 : 1)});
    }
  }
  bool tells_hosts_apart() const override { return false; }
  std::uint32_t states() const override { return 2; }
  std::uint32_t virtual_channels() const override { return 1; }

 private:
  const Topology& topology_;
  const LegalWays ways_;
};

void UpDown::begin() {
  const LegalWays& ways = plan_.ways();
  version_ = plan_.version();
  const auto out = plan_.topology().out_channels(plan_.topology().switch_at(switch_));
  comes_down_.clear();
  first_ports_down_ = 0;
  // A packet has come down by a link that leads up from here.
  for (const std::uint32_t c : out) comes_down_.push_back(ways.leads_up(c) ? 1 : 0);
  for (std::size_t port = 0; port < std::min<std::size_t>(64, comes_down_.size()); ++port) {
    first_ports_down_ |= std::uint64_t{comes_down_[port]} << port;
  }
  known_.assign(2 * std::size_t{ways.destinations().size()}, kUnknown);
  sets_.clear();
  codes_.clear();
  pool_.clear();
}

// The ports of the shortest legal ways, kept as a set.
std::uint16_t UpDown::find(bool descending, std::uint32_t destination) {
  if (plan_.ways().destinations().ends_at(switch_, destination)) return kCable;
  const Topology& topology = plan_.topology();
  const auto out = topology.out_channels(topology.switch_at(switch_));
  std::vector<std::uint32_t> ports;
  plan_.ways().next(switch_, descending, destination, ports);
  for (std::uint32_t& port : ports) {
    port = static_cast<std::uint32_t>(std::ranges::find(out, port) - out.begin());
  }
  const std::size_t count = ports.size();
  if (count > 0 && count <= kMostInRun && ports.front() <= kLastFirst &&
      ports.back() - ports.front() + 1 == count) {
    return static_cast<std::uint16_t>(kRun | ports.front() << kCountBits | count);
  }
  if (kFirstSet + sets_.size() >= kRun) begin();  // they are found again
  const auto [found, is_new] = codes_.emplace(ports, static_cast<std::uint16_t>(kFirstSet + sets_.size()));
  if (is_new) {
    sets_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(count)});
    pool_.insert(pool_.end(), ports.begin(), ports.end());
  }
  return found->second;
}

Output UpDown::choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                      ActiveSwitch& here) {
  if (version_ != plan_.version()) begin();
  const Destinations& destinations = plan_.ways().destinations();
  const std::uint32_t destination = destinations.of(packet.destination);
  const bool descending = packet.in_port != PacketView::kMadeHere && comes_down(packet.in_port);
  std::uint16_t& code = known_[destination + (descending ? destinations.size() : 0)];
  if (code == kUnknown) code = find(descending, destination);
  if (code == kCable) {
    const std::uint32_t cable = destinations.cable_port(packet.destination);
    if (cable != Destinations::kNone) return {.port = cable};
    if (minimal.empty()) minimal = here.minimal(packet.destination);
    if (minimal.empty()) return {.port = Output::kNowhere};
    return {.port = minimal[hash_choice(packet.entropy, salt_, minimal.size())]};
  }
  if (!here.all_up()) return pick_up(code, packet, here);
  const std::uint32_t count = this->count(code);
  if (count == 0) return {.port = Output::kNowhere};
  return {.port = port(code, count == 1 ? 0 : hash_choice(packet.entropy, salt_, count))};
}

// One of those that are up.
Output UpDown::pick_up(std::uint16_t code, const PacketView& packet, ActiveSwitch& here) {
  left_.clear();
  for (std::uint32_t i = 0; i < count(code); ++i) {
    if (here.is_up(port(code, i))) left_.push_back(port(code, i));
  }
  if (left_.empty()) return {.port = Output::kNowhere};
  return {.port = left_[hash_choice(packet.entropy, salt_, left_.size())]};
}

}  // namespace

Policy up_down() {
  return {
      .info = {.name = "up_down",
               .summary = "Lossless networks of any shape: up an order of the switches, then down; each "
                          "flow keeps its path.",
               .source = "M. D. Schroeder et al., Autonet: a high-speed, self-configuring local area "
                         "network using point-to-point links, IEEE J. Sel. Areas Commun. 9(8), 1991",
               .parameters = {{"root", ParameterType::kText, "auto",
                               "The switch that the order begins with, breadth first: its name or number; "
                               "auto: the highest tier, if all hosts can be reached that way, else the "
                               "switch whose farthest one is nearest."}}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<UpDownPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<UpDownPaths>(setup);
      },
      .fluid = FluidPaths::kModel,
      .asks = {.single = true, .own_ports = true, .ahead = true, .no_detours = true},
      .order = KeepsOrder::kYes,
      .longest_path = 2};
}

}  // namespace weft::routing
