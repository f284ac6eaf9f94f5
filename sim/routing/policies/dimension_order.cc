#include "sim/routing/policies/dimension_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

// Tells which coordinate a channel between switches changes.
struct Link {
  static constexpr std::uint8_t kNone = 0xFF;
  std::uint8_t dimension = kNone;  // none: a host's cable
  bool wraps = false;              // from the last coordinate to the first, or back
  bool up = false;                 // towards greater coordinates, on a ring by the shorter way
};

// Those of all channels of a grid.
class Dimensions {
 public:
  explicit Dimensions(const Topology& topology)
      : sizes_(topology.grid()), links_(topology.channels().size()) {
    const std::vector<std::uint32_t>& sizes = sizes_;
    std::uint64_t points = sizes.empty() ? 0 : 1;
    for (const std::uint32_t size : sizes) points *= size;
    if (points != topology.switches() || sizes.size() >= Link::kNone) {
      refuse(topology, "it is no grid, or doesn't say so");
    }
    std::uint32_t stride = topology.switches();
    for (const std::uint32_t size : sizes) strides_.push_back(stride /= size);
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) classify(topology, c);
  }

  const Link& link(std::uint32_t channel) const { return links_[channel]; }
  bool any_wraps() const { return any_wraps_; }
  std::uint32_t coordinate(std::uint32_t s, std::size_t d) const { return s / strides_[d] % sizes_[d]; }
  // Each host has one cable, and along each dimension all lines are rings, or paths, or all-to-all.
  bool is_plain(const Topology& topology) const {
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      if (topology.out_channels(topology.host(host)).size() != 1) return false;
    }
    std::uint32_t stride = topology.switches();
    for (std::size_t d = 0; d < topology.grid().size(); ++d) {
      stride /= topology.grid()[d];
      if (!is_plain(topology, d, stride)) return false;
    }
    return true;
  }

 private:
  bool is_plain(const Topology& topology, std::size_t d, std::uint32_t stride) const {
    const std::uint32_t size = topology.grid()[d];
    bool ring = true, path = true, all = true;
    std::vector<bool> linked(size);
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      linked.assign(size, false);
      for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
        if (links_[c].dimension == d)
          linked[topology.node(topology.channels()[c].to).index / stride % size] = true;
      }
      const std::uint32_t x = s / stride % size;
      for (std::uint32_t y = 0; y < size; ++y) {
        if (x == y) continue;
        const std::uint32_t apart = x < y ? y - x : x - y;
        ring = ring && linked[y] == (apart == 1 || apart == size - 1);
        path = path && linked[y] == (apart == 1);
        all = all && linked[y];
      }
    }
    return ring || path || all;
  }

  [[noreturn]] static void refuse(const Topology& topology, const std::string& why) {
    throw InputError(
        fmt::format("routing policy dimension_order is for grids such as torus, mesh and hyperx, and "
                    "{} can't have it: {}",
                    topology.name(), why));
  }

  void classify(const Topology& topology, std::uint32_t c) {
    const topologies::Channel& channel = topology.channels()[c];
    const topologies::Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.kind == NodeKind::kHost || to.kind == NodeKind::kHost) return;
    const std::vector<std::uint32_t>& sizes = topology.grid();
    std::uint32_t a = from.index, b = to.index, changed = 0;
    for (std::size_t d = sizes.size(); d-- > 0; a /= sizes[d], b /= sizes[d]) {
      const std::uint32_t x = a % sizes[d], y = b % sizes[d];
      if (x == y) continue;
      ++changed;
      Link& link = links_[c];
      link.dimension = static_cast<std::uint8_t>(d);
      const bool ends = (x == 0 && y == sizes[d] - 1) || (y == 0 && x == sizes[d] - 1);
      link.wraps = ends && sizes[d] > 2;
      link.up = (y + sizes[d] - x) % sizes[d] <= sizes[d] / 2;
    }
    if (changed != 1) {
      refuse(topology,
             fmt::format("the link between {} and {} changes {} coordinates", from.name, to.name, changed));
    }
    any_wraps_ = any_wraps_ || links_[c].wraps;
  }

  const std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
  std::vector<Link> links_;  // by channel
  bool any_wraps_ = false;
};

// A switch takes those of several ways that change the first dimension that any does, in one direction.
// Halfway around a ring both are as short. Every other switch sends up, the others down: where all send so,
// each link has the same to carry, which directions drawn for each flow miss by a factor of two or three.
class Heading {
 public:
  // `link(way)` is its Link; `coordinate(d)` the switch's.
  template <typename Ways, typename LinkOf, typename Coordinate>
  Heading(const Ways& ways, const LinkOf& link, const Coordinate& coordinate) {
    for (const auto way : ways) dimension_ = std::min(dimension_, link(way).dimension);
    std::array<bool, 2> has{};  // down, up
    for (const auto way : ways) has[link(way).up] |= link(way).dimension == dimension_;
    up_ = has[0] && has[1] ? coordinate(dimension_) % 2 == 0 : has[1];
  }
  std::uint8_t dimension() const { return dimension_; }
  bool takes(const Link& link) const { return link.dimension == dimension_ && link.up == up_; }

 private:
  std::uint8_t dimension_ = Link::kNone;
  bool up_ = false;
};

// Where hosts are in the grid.
class Places {
 public:
  // Tells the switch of a host that has one cable, and its port to the host.
  struct Place {
    std::uint32_t at = kNone;    // kNone: the host has more cables, or one to another host
    std::uint32_t port = kNone;  // the host's
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit Places(const Topology& topology)
      : sizes_(topology.grid()), places_(topology.hosts()), host_at_(topology.switches(), kNone) {
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      const auto cables = topology.out_channels(topology.host(host));
      const Vertex end = topology.channels()[cables.front()].to;
      if (cables.size() != 1 || topology.node(end).kind != NodeKind::kSwitch) continue;
      places_[host].at = topology.node(end).index;
      host_at_[topology.node(end).index] = host;
      const auto out = topology.out_channels(end);
      for (std::uint32_t port = 0; port < out.size(); ++port) {
        if (topology.channels()[out[port]].to == topology.host(host)) places_[host].port = port;
      }
    }
    std::uint32_t stride = topology.switches();
    for (const std::uint32_t size : sizes_) strides_.push_back(stride /= size);
    // No division for each packet.
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      for (std::size_t d = 0; d < sizes_.size(); ++d) coordinates_.push_back(s / strides_[d] % sizes_[d]);
    }
  }

  const Place& of(std::uint32_t host) const { return places_[host]; }
  std::uint32_t lines() const { return std::accumulate(sizes_.begin(), sizes_.end(), 0u); }
  // Which of lines(), a coordinate in a dimension, is where `t` differs from `s` first. REQUIRES: s != t.
  std::uint32_t first_line(std::uint32_t s, std::uint32_t t) const {
    const std::size_t count = sizes_.size();
    const std::uint32_t* const from = coordinates_.data() + s * count;
    const std::uint32_t* const to = coordinates_.data() + t * count;
    std::uint32_t line = 0;
    for (std::size_t d = 0;; ++d) {
      if (from[d] != to[d]) return line + to[d];
      line += sizes_[d];
    }
  }
  std::uint32_t coordinate(std::uint32_t s, std::size_t d) const {
    return coordinates_[s * sizes_.size() + d];
  }
  // A host on a line of switch `s`; kNone: there is none.
  std::uint32_t corner(std::uint32_t s, std::uint32_t line) const {
    std::size_t d = 0;
    for (; line >= sizes_[d]; ++d) line -= sizes_[d];
    return host_at_[s + (line - coordinates_[s * sizes_.size() + d]) * strides_[d]];
  }

 private:
  const std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> host_at_;      // by switch
  std::vector<std::uint32_t> coordinates_;  // of switches, by switch
};

class DimensionOrder final : public SwitchPolicy {
 public:
  DimensionOrder(const Dimensions& dimensions, const Places& places, const Topology& topology,
                 std::uint32_t s, std::uint64_t salt)
      : places_(places), switch_(s), salt_(salt), known_(places.lines()) {
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
      // A link changes the same coordinate in both directions.
      ports_.push_back(dimensions.link(c));
    }
  }

  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    if (!minimal.empty()) return by(one_of(minimal, packet.entropy), packet, note);
    const Places::Place& place = places_.of(packet.destination);
    if (place.at == switch_) return {.port = place.port, .channel = 0};
    if (place.at != Places::kNone) [[likely]] {
      const Way& way = way_on(places_.first_line(switch_, place.at), here);
      if (way.count == 1) [[likely]]
        return {.port = way.first, .channel = channel_in(way.port, packet, note)};
      if (way.count > 1)
        return by(pool_[way.first + hash_choice(packet.entropy, salt_, way.count)], packet, note);
    }
    return by(one_of(here.minimal(packet.destination), packet.entropy), packet, note);
  }

 private:
  // The ports to where the first dimension is right: one, or several in pool_ from `first` on.
  struct Way {
    std::uint16_t first = 0, count = 0;  // none: not asked for yet, or it isn't known
    Link port;                           // where it is one
  };

  Output by(std::uint32_t port, const PacketView& packet, const RouteNote& note) const {
    return {.port = port, .channel = channel_in(ports_[port], packet, note)};
  }
  std::uint8_t channel_in(Link port, const PacketView& packet, const RouteNote& note) const {
    const bool goes_on = note.channel == 1 && packet.in_port != PacketView::kMadeHere &&
                         ports_[packet.in_port].dimension == port.dimension;
    return port.wraps || goes_on ? 1 : 0;
  }
  Heading heading(std::span<const std::uint32_t> ports) const {
    return {ports, [&](std::uint32_t port) { return ports_[port]; },
            [&](std::uint8_t d) { return places_.coordinate(switch_, d); }};
  }
  std::uint32_t one_of(std::span<const std::uint32_t> ports, std::uint32_t entropy) const {
    const Heading way = heading(ports);
    const auto is_taken = [&](std::uint32_t port) { return way.takes(ports_[port]); };
    const auto taken = static_cast<std::size_t>(std::ranges::count_if(ports, is_taken));
    std::size_t skip = taken > 1 ? hash_choice(entropy, salt_, taken) : 0;
    return *std::ranges::find_if(ports, [&](std::uint32_t port) { return is_taken(port) && skip-- == 0; });
  }
  // While all links are up: the same for all hosts with that coordinate.
  const Way& way_on(std::uint32_t line, ActiveSwitch& here) {
    Way& way = known_[line];
    if (way.count > 0) [[likely]]
      return way;
    const std::uint32_t corner = places_.corner(switch_, line);
    if (corner == Places::kNone) return way;
    const auto minimal = here.minimal(corner);
    const Heading heads = heading(minimal);
    std::vector<std::uint32_t> ports;
    std::ranges::copy_if(minimal, std::back_inserter(ports),
                         [&](std::uint32_t port) { return heads.takes(ports_[port]); });
    way.count = static_cast<std::uint16_t>(ports.size());
    way.first = static_cast<std::uint16_t>(ports.size() == 1 ? ports.front() : pool_.size());
    way.port = ports_[ports.front()];
    if (ports.size() > 1) pool_.insert(pool_.end(), ports.begin(), ports.end());
    return way;
  }

  const Places& places_;
  const std::uint32_t switch_;
  const std::uint64_t salt_;
  std::vector<Link> ports_;
  std::vector<Way> known_;  // by Places::lines(), as they were asked for
  std::vector<std::uint16_t> pool_;
};

class DimensionOrderPlan final : public SwitchPlan {
 public:
  explicit DimensionOrderPlan(const PlanSetup& setup)
      : topology_(setup.topology), dimensions_(setup.topology), places_(setup.topology), seed_(setup.seed) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<DimensionOrder>(dimensions_, places_, topology_, switch_index,
                                            switch_salt(seed_, switch_index));
  }

 private:
  const Topology& topology_;
  const Dimensions dimensions_;
  const Places places_;
  const std::uint64_t seed_;
};

// State: twice the dimension that a packet is in, plus one behind the dateline. Always 0 where there is none.
class DimensionOrderPaths final : public PathModel {
 public:
  explicit DimensionOrderPaths(const PlanSetup& setup)
      : topology_(setup.topology), table_(setup.table), dimensions_(setup.topology) {
    if (dimensions_.any_wraps() && setup.topology.grid().size() > kMostStates / 2) {
      throw InputError(fmt::format(
          "the paths of dimension_order can't be told for tori of more than {} dimensions", kMostStates / 2));
    }
  }
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const Candidates all = table_.candidates(at, host);
    std::vector<std::uint32_t> next(all.begin(), all.end());
    const Heading heading(
        next, [&](std::uint32_t c) { return dimensions_.link(c); },
        [&](std::uint8_t d) { return dimensions_.coordinate(topology_.node(at).index, d); });
    std::erase_if(next, [&](std::uint32_t c) { return !heading.takes(dimensions_.link(c)); });
    const std::uint8_t dimension = heading.dimension();
    for (const std::uint32_t c : next) {
      const bool crossed = dimensions_.link(c).wraps || (dimension == state / 2 && state % 2 == 1);
      const bool counts = dimensions_.any_wraps() && dimension != Link::kNone;
      steps.push_back({.channel = c,
                       .share = 1.0 / static_cast<double>(next.size()),
                       .state = static_cast<PathState>(counts ? 2 * dimension + crossed : 0),
                       .virtual_channel = static_cast<std::uint8_t>(crossed ? 1 : 0)});
    }
  }
  bool tells_hosts_apart() const override { return false; }
  std::uint32_t states() const override { return dimensions_.any_wraps() ? kMostStates : 1; }
  std::uint32_t virtual_channels() const override { return dimensions_.any_wraps() ? 2 : 1; }
  // Elsewhere shortest ways needn't have their dimensions in order.
  std::string own_proof() const override {
    if (!dimensions_.is_plain(topology_)) return "";
    return dimensions_.any_wraps()
               ? "dimensions come in order, and each ring has a dateline (Dally and Seitz, 1987)"
               : "dimensions come in order, each without turning back (Dally and Seitz, 1987)";
  }

 private:
  const Topology& topology_;
  const RoutingTable& table_;
  const Dimensions dimensions_;
};

}  // namespace

Policy dimension_order() {
  return {
      .info = {.name = "dimension_order",
               .summary = "Grids: one dimension after the other; each flow keeps its path, halfway around "
                          "a ring up from even coordinates and down from odd ones.",
               .source = "W. J. Dally, C. L. Seitz, Deadlock-free message routing in multiprocessor "
                         "interconnection networks, IEEE Trans. Computers C-36(5), 1987",
               .parameters = {}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<DimensionOrderPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<DimensionOrderPaths>(setup);
      },
      .fluid = FluidPaths::kModel,
      .asks = {.single = true, .own_ports = true, .ahead = true, .notes = true},
      .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
