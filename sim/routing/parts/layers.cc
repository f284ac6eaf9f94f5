#include "sim/routing/parts/layers.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/random.h"
#include "sim/routing/table/host_classes.h"
#include "sim/routing/table/parallel_search.h"
#include "sim/routing/table/switch_links.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;

constexpr std::uint64_t kLayerPurpose = 0x1A7E;  // of the stream that a layer's links are drawn from

// How long ways are, by those to some destinations.
class Lengths {
 public:
  explicit Lengths(const Topology& topology) : topology_(topology), links_(topology) {
    std::vector<std::uint32_t> hosts(topology.hosts()), class_of;
    std::iota(hosts.begin(), hosts.end(), 0);
    classes_ = classify(topology, {}, hosts, class_of);
  }
  // The most switches on the shortest way of a switch to a host without these links.
  std::uint32_t longest(const std::vector<bool>& without) const {
    ParallelSearch search(links_, without);
    const std::size_t count = std::min<std::size_t>(classes_.size(), ParallelSearch::kWidth);
    search.start();
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t v : classes_[i * classes_.size() / count].neighbours) {
        const topologies::Node& node = topology_.node(v);
        if (node.kind == NodeKind::kSwitch) search.seed(node.index, static_cast<std::uint32_t>(i));
      }
    }
    std::uint32_t steps = 0;
    search.run([&](std::span<const std::uint64_t>) { ++steps; });
    return steps;
  }

 private:
  const Topology& topology_;
  const SwitchLinks links_;
  std::vector<HostClass> classes_;
};

std::vector<std::uint32_t> links_between_switches(const Topology& topology) {
  std::vector<std::uint32_t> links;
  for (std::uint32_t link = 0; link < topology.edges().size(); ++link) {
    const topologies::Edge& edge = topology.edges()[link];
    if (topology.node(edge.from).kind == NodeKind::kSwitch &&
        topology.node(edge.to).kind == NodeKind::kSwitch)
      links.push_back(link);
  }
  return links;
}

}  // namespace

Layers::Layers(const PlanSetup& setup, std::uint32_t count, double share)
    : topology_(setup.topology), network_(setup.table), port_of_(topology_.channels().size()) {
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    const auto out = topology_.out_channels(topology_.switch_at(s));
    for (std::uint32_t port = 0; port < out.size(); ++port) {
      port_of_[out[port]] = static_cast<std::uint16_t>(port);
      if (port == numbers_.size()) numbers_.push_back(port);
    }
  }
  const Lengths lengths(topology_);
  const std::uint32_t most = kMostStretch * lengths.longest({});
  const std::vector<std::uint32_t> all = links_between_switches(topology_);
  const auto kept = static_cast<std::size_t>(share * static_cast<double>(all.size()));
  sparse_.reserve(count - 1);
  for (std::uint32_t layer = 1; layer < count; ++layer) {
    sim::RandomStream random(setup.seed, layer, kLayerPurpose);
    std::vector<std::uint32_t> missing = all;
    for (std::size_t i = 0; i + 1 < missing.size(); ++i) {
      std::swap(missing[i], missing[i + random.below(missing.size() - i)]);
    }
    missing.resize(all.size() - kept);
    std::vector<bool> without;
    for (;; missing.resize(missing.size() / 2)) {
      without.assign(topology_.edges().size(), false);
      for (const std::uint32_t link : missing) without[link] = true;
      if (missing.empty() || lengths.longest(without) <= most) break;
    }
    sparse_.push_back({.without = std::move(without), .table = network_});
    sparse_.back().table.repair(topology_, sparse_.back().without);
  }
  list_ports();
}

void Layers::list_ports() {
  codes_.clear();
  first_set_.clear();
  sets_.clear();
  pool_.clear();
  std::vector<std::uint32_t> hosts(topology_.hosts());
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<HostClass> classes = classify(topology_, {}, hosts, class_of_);
  classes_ = classes.size();
  home_port_.assign(topology_.hosts(), kNone);
  for (const std::uint32_t host : hosts) {
    const auto cables = topology_.out_channels(topology_.host(host));
    if (cables.size() == 1) home_port_[host] = port_of_[cables.front() ^ 1];
  }
  const std::size_t all = count() * topology_.switches() * classes_;
  if (all * sizeof(std::uint16_t) > kQuickBytes) return;
  codes_.reserve(all);
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    const topologies::Vertex at = topology_.switch_at(s);
    std::map<std::vector<std::uint16_t>, std::uint16_t> known;
    first_set_.push_back(static_cast<std::uint32_t>(sets_.size()));
    for (const HostClass& each : classes) {
      const bool cabled = std::ranges::find(each.neighbours, at) != each.neighbours.end();
      for (std::uint32_t layer = 0; layer < count(); ++layer) {
        const std::uint32_t code = cabled ? kCabled : code_of(layer, at, each.representative, known);
        if (code == kNone) return codes_.clear();
        codes_.push_back(static_cast<std::uint16_t>(code));
      }
    }
  }
}

// `known`: the switch's codes of sets. kNone: there are more than can be told apart.
std::uint32_t Layers::code_of(std::uint32_t layer, topologies::Vertex at, std::uint32_t host,
                              std::map<std::vector<std::uint16_t>, std::uint16_t>& known) {
  const Candidates next = table(layer).candidates(at, host);
  if (next.size() == 1 && port_of_[next.front()] < kSets) return port_of_[next.front()];
  std::vector<std::uint16_t> ports;
  for (const std::uint32_t channel : next) ports.push_back(port_of_[channel]);
  const auto [found, is_new] = known.emplace(ports, static_cast<std::uint16_t>(kSets + known.size()));
  if (is_new) {
    if (found->second == kCabled) return kNone;
    sets_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(ports.size())});
    pool_.insert(pool_.end(), ports.begin(), ports.end());
  }
  return found->second;
}

void Layers::rebuild(const std::vector<bool>& down_links) {
  for (Sparse& layer : sparse_) {
    std::vector<bool> without = layer.without;
    for (std::size_t link = 0; link < down_links.size(); ++link) {
      if (down_links[link]) without[link] = true;
    }
    layer.table.repair(topology_, without);
  }
  codes_.clear();  // as long as links are or were down nothing is asked of these
}

void LayeredPaths::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  const double share = 1.0 / layers_.count();
  for (std::uint32_t layer = 0; layer < layers_.count(); ++layer) {
    starts.push_back({.share = share, .state = static_cast<PathState>(layer)});
  }
}

void LayeredPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                         std::vector<PathStep>& steps) const {
  const auto add = [&](PathState layer) {
    const Candidates next = layers_.table(layer).candidates(at, host);
    for (const std::uint32_t c : next) {
      steps.push_back({.channel = c, .share = 1.0 / static_cast<double>(next.size()), .state = layer});
    }
    return !next.empty();
  };
  if (!add(state) && state != 0) add(0);
}

}  // namespace weft::routing
