#include "sim/routing/policies/hammingmesh.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/parts/port_choice.h"
#include "sim/units/input_error.h"

namespace weft::routing {
namespace {

using topologies::Node;
using topologies::Topology;
using topologies::Vertex;

constexpr std::uint8_t kChannels = 3;

// What its links are to a packet that leaves by them.
class Boards {
 public:
  enum class Way : std::uint8_t {
    kNorth,   // on a board, towards its accelerators (0, j)
    kSouth,   // the other way
    kAcross,  // on a board, in the other dimension
    kIntoLine,
    kElsewhere,  // within a line, out of it, or to the host
  };

  explicit Boards(const Topology& topology) : ways_(topology.channels().size(), Way::kElsewhere) {
    if (topology.boards().empty()) {
      throw InputError(
          fmt::format("hammingmesh is for the topology of that name, with its boards and lines; this is {}",
                      topology.name()));
    }
    const bool has_rows = topology.boards().b != 1;
    const auto is_accelerator = [](const Node& node) {
      return node.kind == topologies::NodeKind::kSwitch && node.in_host;
    };
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const Node &from = topology.node(topology.channels()[c].from),
                 &to = topology.node(topology.channels()[c].to);
      if (!is_accelerator(from) || to.kind != topologies::NodeKind::kSwitch) continue;
      if (!is_accelerator(to)) {
        ways_[c] = Way::kIntoLine;
        continue;
      }
      // Numbered with the second dimension fastest; the planes' switches one after the other.
      const std::int64_t step = std::int64_t{to.index} - from.index;
      if (has_rows && std::abs(step) == 1) {
        ways_[c] = Way::kAcross;
      } else {
        ways_[c] = step < 0 ? Way::kNorth : Way::kSouth;
      }
    }
  }
  Way way(std::uint32_t channel) const { return ways_[channel]; }

  // Keeps those ports or channels on shortest paths that a packet may take: north only if nothing leads
  // across. `way_of(each)` gives the Way of one.
  template <typename WayOf>
  static void keep_allowed(std::vector<std::uint32_t>& next, WayOf&& way_of) {
    if (std::ranges::none_of(next, [&](std::uint32_t each) { return way_of(each) == Way::kAcross; })) return;
    std::erase_if(next, [&](std::uint32_t each) { return way_of(each) == Way::kNorth; });
  }
  static std::uint8_t channel_behind(std::uint8_t channel, Way way) {
    return way == Way::kIntoLine ? std::min<std::uint8_t>(channel + 1, kChannels - 1) : channel;
  }

 private:
  std::vector<Way> ways_;
};

// A switch. Accelerators have a few ports, other switches none that need to be told apart.
class HammingMesh final : public SwitchPolicy {
 public:
  HammingMesh(const Boards& boards, const Topology& topology, std::uint32_t switch_index) {
    const auto out = topology.out_channels(topology.switch_at(switch_index));
    for (std::uint32_t port = 0; port < std::min<std::size_t>(out.size(), kMostPorts); ++port) {
      const Boards::Way way = boards.way(out[port]);
      north_ |= std::uint64_t{way == Boards::Way::kNorth} << port;
      across_ |= std::uint64_t{way == Boards::Way::kAcross} << port;
      into_line_ |= std::uint64_t{way == Boards::Way::kIntoLine} << port;
    }
  }
  Output choose(const PacketView&, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    std::uint32_t port = minimal.front();
    if (minimal.size() > 1) {
      std::array<std::uint32_t, kMostPorts> allowed;
      const auto among = across_ == 0 ? minimal : keep_allowed(minimal, allowed);
      port = among.size() == 1 ? among.front() : least_loaded(among, here);
    }
    return {.port = port,
            .channel = Boards::channel_behind(
                note.channel, holds(into_line_, port) ? Boards::Way::kIntoLine : Boards::Way::kElsewhere)};
  }

 private:
  static constexpr std::uint32_t kMostPorts = 64;

  static bool holds(std::uint64_t ports, std::uint32_t port) {
    return port < kMostPorts && (ports >> port & 1) != 0;
  }
  // As Boards::keep_allowed().
  std::span<const std::uint32_t> keep_allowed(std::span<const std::uint32_t> minimal,
                                              std::array<std::uint32_t, kMostPorts>& allowed) const {
    std::uint64_t all = 0;
    for (const std::uint32_t port : minimal) all |= std::uint64_t{1} << port;
    if ((all & across_) == 0) return minimal;
    std::size_t count = 0;
    for (const std::uint32_t port : minimal) {
      allowed[count] = port;
      count += holds(north_, port) ? 0 : 1;
    }
    return {allowed.data(), count};
  }

  std::uint64_t north_ = 0, across_ = 0, into_line_ = 0;  // ports, by bit
};

class HammingmeshPlan final : public SwitchPlan {
 public:
  explicit HammingmeshPlan(const PlanSetup& setup) : topology_(setup.topology), boards_(setup.topology) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<HammingMesh>(boards_, topology_, switch_index);
  }

 private:
  const Topology& topology_;
  const Boards boards_;
};

// State: how many lines a packet has entered, which is its virtual channel.
class HammingmeshPaths final : public PathModel {
 public:
  explicit HammingmeshPaths(const PlanSetup& setup) : table_(setup.table), boards_(setup.topology) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const Candidates all = table_.candidates(at, host);
    std::vector<std::uint32_t> next(all.begin(), all.end());
    Boards::keep_allowed(next, [&](std::uint32_t c) { return boards_.way(c); });
    for (const std::uint32_t c : next) {
      const std::uint8_t behind = Boards::channel_behind(state, boards_.way(c));
      steps.push_back({.channel = c,
                       .share = 1.0 / static_cast<double>(next.size()),
                       .state = behind,
                       .virtual_channel = behind});
    }
  }
  bool tells_hosts_apart() const override { return false; }
  std::uint32_t states() const override { return kChannels; }
  std::uint32_t virtual_channels() const override { return kChannels; }

 private:
  const RoutingTable& table_;
  const Boards boards_;
};

}  // namespace

Policy hammingmesh() {
  return {
      .info = {.name = "hammingmesh",
               .summary = "HammingMesh: over the board to the nearest edge, and by the lines of rows and "
                          "columns, each packet to the least loaded of the next ports.",
               .source = "T. Hoefler et al., HammingMesh: a network topology for large-scale deep learning, "
                         "SC 2022",
               .parameters = {}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<HammingmeshPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<HammingmeshPaths>(setup);
      },
      .fluid = FluidPaths::kModel,
      .asks = {.single = true, .notes = true},
      .order = KeepsOrder::kNo,
      .paths_remark = "packets choose among these by load"};
}

}  // namespace weft::routing
