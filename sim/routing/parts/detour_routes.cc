#include "sim/routing/parts/detour_routes.h"

#include <algorithm>

#include "sim/routing/parts/port_rates.h"
#include "sim/routing/source_route.h"
#include "sim/units/input_error.h"

namespace weft::routing {
namespace {

constexpr std::uint32_t kFarAway = 1 << 20;

// Gives the port to a host of the switch at the end of its first cable.
std::uint32_t port_towards(const topologies::Topology& topology, std::span<const std::uint32_t> cables) {
  if (cables.empty()) return 0;
  return port_of(topology, cables.front() ^ 1);
}

}  // namespace

DetourRoutes::DetourRoutes(const topologies::Topology& topology, const RoutingTable& table)
    : topology_(topology), table_(table) {
  if (topology_.linked_groups()) groups_ = std::make_unique<GroupRoutes>(topology_);
  if (const HomeSwitches homes(topology_); homes.outer()) {
    find_homes(homes);
  } else {
    find_cabled();
  }
}

void DetourRoutes::check(const topologies::Topology& topology) {
  if (!topology.has_domains() || !HomeSwitches(topology).ambiguous()) return;
  throw InputError(
      "nodes of several accelerators have NICs on several switches, and detours could lead through them");
}

void DetourRoutes::find_homes(const HomeSwitches& homes) {
  outer_ = true;
  begin_ = exits_begin_ = {0};
  switch_of_.clear();
  home_.clear();
  exits_.clear();
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    for (const std::uint32_t v : homes.of(host)) {
      const topologies::Node& end = topology_.node(v);
      if (end.kind == topologies::NodeKind::kSwitch) switch_of_.push_back(end.index);
    }
    begin_.push_back(static_cast<std::uint32_t>(switch_of_.size()));
    home_.push_back(begin_[host + 1] - begin_[host] == 1 ? switch_of_.back() : kSeveral);
  }
  home_port_.assign(topology_.hosts(), kNoPort);
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    for (const std::uint32_t c : homes.exits(s)) exits_.push_back(port_of(topology_, c));
    exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
  }
}

void DetourRoutes::find_cabled() {
  begin_ = {0};
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    for (const std::uint32_t c : topology_.out_channels(topology_.host(host))) {
      const topologies::Node& end = topology_.node(topology_.channels()[c].to);
      if (end.kind == topologies::NodeKind::kSwitch) switch_of_.push_back(end.index);
    }
    home_port_.push_back(port_towards(topology_, topology_.out_channels(topology_.host(host))));
    begin_.push_back(static_cast<std::uint32_t>(switch_of_.size()));
    home_.push_back(begin_[host + 1] - begin_[host] == 1 ? switch_of_.back() : kSeveral);
  }
}

void DetourRoutes::rebuild(const std::vector<bool>& down_links) {
  if (groups_ != nullptr) groups_->rebuild(down_links);
  if (!outer_) return;
  const HomeSwitches homes(topology_, down_links);
  if (homes.outer()) find_homes(homes);
}

bool DetourRoutes::is_among(std::span<const std::uint32_t> switches, std::uint32_t switch_index) {
  return std::find(switches.begin(), switches.end(), switch_index) != switches.end();
}

std::uint32_t DetourRoutes::links(std::uint32_t switch_index, std::uint32_t host) const {
  if (groups_ != nullptr) {
    const std::uint8_t distance = groups_->distance(switch_index, host);
    return distance == GroupRoutes::kNoWay ? kFarAway : distance;
  }
  std::uint32_t count = 0;
  topologies::Vertex at = topology_.switch_at(switch_index);
  while (!cabled(topology_.node(at).index, host)) {
    if (table_.candidates(at, host).empty()) return kFarAway;
    at = topology_.channels()[table_.candidate(at, host, [](std::size_t) { return 0u; })].to;
    ++count;
  }
  return count;
}

std::uint32_t DetourRoutes::links_between(std::uint32_t host, std::uint32_t other) const {
  std::uint32_t least = kFarAway;
  for (const std::uint32_t s : switches_of(host)) least = std::min(least, links(s, other));
  return least;
}

std::span<const std::uint32_t> DetourRoutes::next(OwnSwitch& here, std::uint32_t switch_index,
                                                  std::uint32_t host,
                                                  std::vector<std::uint32_t>& ports) const {
  if (groups_ == nullptr) {
    const auto minimal = here.minimal(host);
    if (here.all_up()) return minimal;
    ports.assign(minimal.begin(), minimal.end());
    return ports;
  }
  const auto all = groups_->ports(switch_index, host);
  if (here.all_up()) return all;
  ports.clear();
  for (const std::uint32_t port : all) {
    if (here.is_up(port)) ports.push_back(port);
  }
  return ports;
}

std::span<const std::uint32_t> DetourRoutes::ports(std::uint32_t switch_index, std::uint32_t host,
                                                   std::vector<std::uint32_t>& room) const {
  if (groups_ != nullptr && !cabled(switch_index, host)) return groups_->ports(switch_index, host);
  const Candidates next = table_.candidates(topology_.switch_at(switch_index), host);
  room.clear();
  for (const std::uint32_t c : next) room.push_back(port_of(topology_, c));
  return room;
}

void DetourRoutes::channels(std::uint32_t switch_index, std::uint32_t host,
                            std::vector<std::uint32_t>& channels) const {
  channels.clear();
  const topologies::Vertex at = topology_.switch_at(switch_index);
  const std::uint32_t domain = domain_of(switch_index);
  const bool inside = domain != topologies::kNoDomain;
  if (inside && domain != domain_of_host(host)) {
    for (const std::uint32_t port : exits(switch_index)) channels.push_back(topology_.out_channels(at)[port]);
    return;
  }
  if (groups_ == nullptr || inside || cabled(switch_index, host)) {
    const Candidates next = table_.candidates(at, host);
    channels.assign(next.begin(), next.end());
    return;
  }
  for (const std::uint32_t port : groups_->ports(switch_index, host)) {
    channels.push_back(topology_.out_channels(at)[port]);
  }
}

// What stays inside a machine, or on the outer switch that it comes to, takes no detour.
void DetourPaths::starts(std::uint32_t source, std::uint32_t destination,
                         std::vector<PathStart>& starts) const {
  if (homes_ != nullptr && (topology_.is_inside(topology_.host(source), topology_.host(destination)) ||
                            homes_->are_among(source, destination))) {
    starts.push_back({.state = 1});
    return;
  }
  if (rules_.minimal > 0) starts.push_back({.share = rules_.minimal, .state = 1});
  starts.push_back({.share = 1 - rules_.minimal, .state = 0, .by_detour = true});
}

const DetourRoutes& DetourPaths::routes() const {
  std::call_once(once_, [this] {
    auto routes = std::make_unique<DetourRoutes>(topology_, table_);
    if (!table_.down_links().empty()) routes->rebuild(table_.down_links());
    routes_ = std::move(routes);
  });
  return *routes_;
}

void DetourPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                        std::vector<PathStep>& steps) const {
  std::vector<std::uint32_t> channels;
  routes().channels(routes().topology().node(at).index, host, channels);
  const std::size_t first = steps.size();
  const double even = 1.0 / static_cast<double>(channels.size());
  for (const std::uint32_t c : channels) steps.push_back({.channel = c, .share = even, .state = state});
  if (rules_.by_rates) share_by_rates(topology_, rate_shares_, std::span(steps).subspan(first));
}

bool DetourPolicy::detour_is_over(std::uint32_t via) const {
  if (routes_.cabled(index_, via)) return true;
  return by_group_ && routes_.group_of(routes_.switches_of(via).front()) == group_;
}

// Once it is decided a way is one port at most switches of linked groups, and at the last switch of all.
Foreseen DetourPolicy::foresee(const Coming& packet) const {
  if (domain_ != topologies::kNoDomain) return {};
  const bool goes_by = packet.note.phase == kDetour && !detour_is_over(packet.note.via);
  if (!goes_by && packet.note.phase != kFresh && routes_.is_home(index_, packet.destination)) {
    return {routes_.home_port(packet.destination), true};
  }
  const auto ports = routes_.foresee(index_, goes_by ? packet.note.via : packet.destination);
  return {ports, ports.size() == 1 && (goes_by || packet.note.phase == kMinimal)};
}

// To the nearest NICs of the source's machine, and inside the destination's to it.
Output DetourPolicy::choose_inside(const PacketView& packet, RouteNote& note,
                                   std::span<const std::uint32_t> minimal, ActiveSwitch& here) {
  const bool leaves = routes_.domain_of_host(packet.source) == domain_ &&
                      routes_.domain_of_host(packet.destination) != domain_ && note.phase != kPlain;
  if (leaves) {
    ports_.clear();
    for (const std::uint32_t port : routes_.exits(index_)) {
      if (here.all_up() || here.is_up(port)) ports_.push_back(port);
    }
    if (!ports_.empty()) return {.port = pick(packet, ports_, here)};
    note.phase = kPlain;
  }
  if (minimal.empty()) minimal = here.minimal(packet.destination);
  return {.port = pick(packet, minimal, here)};
}

Output DetourPolicy::choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                            ActiveSwitch& here) {
  if (domain_ != topologies::kNoDomain) return choose_inside(packet, note, minimal, here);
  const bool arrived = routes_.cabled(index_, packet.destination);
  if (note.phase == kDetour && detour_is_over(note.via)) note.phase = kMinimal;
  if (note.phase == kDetour) {
    const auto ports = routes_.next(here, index_, note.via, ports_);
    if (!ports.empty()) return {.port = pick(packet, ports, here)};
    note.phase = kPlain;
  }
  const bool is_plain = arrived || note.phase == kPlain;
  if (minimal.empty() && (is_plain || !routes_.linked_groups())) minimal = here.minimal(packet.destination);
  if (is_plain) {
    if (note.phase == kFresh) note.phase = kMinimal;
    return {.port = pick(packet, minimal, here)};
  }
  if (routes_.linked_groups()) {
    const auto ports = routes_.next(here, index_, packet.destination, ports_);
    if (ports.empty()) {
      note.phase = kPlain;
      if (minimal.empty()) minimal = here.minimal(packet.destination);
      return {.port = pick(packet, minimal, here)};
    }
    minimal = ports;
  }
  if (note.phase == kFresh || note.phase == kUndecided) {
    const Decision decision = decide(packet, note, minimal, here);
    note.phase = decision.phase;
    note.via = decision.via;
    if (decision.port != Decision::kAnyPort) return {.port = decision.port};
  }
  return {.port = pick(packet, minimal, here)};
}

}  // namespace weft::routing
