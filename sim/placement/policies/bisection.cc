#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/placement/policies/mapping.h"
#include "topologies/analysis/metis.h"

namespace weft::placement {
namespace {

using List = std::vector<std::uint32_t>;

constexpr double kMostWeight = 1e6;     // of an edge for METIS, whose weights are whole numbers
constexpr std::size_t kNearest = 24;    // hosts that each is linked to where hosts are split
constexpr std::size_t kMostEach = 512;  // up to so many, to all

// The members' part of a graph, with weights of 1 and more.
topologies::WeightedGraph part_of(const TalkGraph& graph, const List& members,
                                  std::vector<std::int32_t>& number) {
  double most = 0;
  for (std::size_t i = 0; i < members.size(); ++i) number[members[i]] = static_cast<std::int32_t>(i);
  for (const double bytes : graph.bytes) most = std::max(most, bytes);
  // Sums fit 32 bits.
  const double scale =
      std::min(kMostWeight, 1e9 / static_cast<double>(graph.to.size() + 1)) / std::max(most, 1e-300);
  topologies::WeightedGraph part;
  for (const std::uint32_t v : members) {
    part.vertex_weight.push_back(1);
    for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      if (number[graph.to[e]] < 0) continue;
      part.to.push_back(number[graph.to[e]]);
      part.edge_weight.push_back(std::max(1, static_cast<std::int32_t>(std::lround(graph.bytes[e] * scale))));
    }
    part.begin.push_back(static_cast<std::int32_t>(part.to.size()));
  }
  for (const std::uint32_t v : members) number[v] = -1;
  return part;
}

// Moves the vertices that cost least to move until side 0 has exactly so many.
void fit_sides(const topologies::WeightedGraph& graph, std::uint32_t first, List& side) {
  std::vector<std::int64_t> gain(graph.vertices(), 0);  // of changing sides: what is cut less
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::int32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      gain[v] += side[graph.to[e]] == side[v] ? -graph.edge_weight[e] : graph.edge_weight[e];
    }
  }
  auto on_first = static_cast<std::uint32_t>(std::count(side.begin(), side.end(), 0U));
  while (on_first != first) {
    const std::uint32_t from = on_first > first ? 0 : 1;
    std::uint32_t best = UINT32_MAX;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      if (side[v] == from && (best == UINT32_MAX || gain[v] > gain[best])) best = v;
    }
    side[best] = 1 - from;
    gain[best] = -gain[best];
    for (std::int32_t e = graph.begin[best]; e < graph.begin[best + 1]; ++e) {
      const auto u = static_cast<std::uint32_t>(graph.to[e]);
      gain[u] += side[u] == side[best] ? -2 * std::int64_t{graph.edge_weight[e]}
                                       : 2 * std::int64_t{graph.edge_weight[e]};
    }
    on_first += from == 0 ? -1 : 1;
  }
}

// Two lists of members; the first has exactly `first`. REQUIRES: 0 < first < members.
std::pair<List, List> split_members(const topologies::WeightedGraph& graph, const List& members,
                                    std::uint32_t first, std::uint64_t seed) {
  List side(members.size(), 0);
  if (graph.to.empty()) {
    std::fill(side.begin() + first, side.end(), 1U);
  } else {
    side = topologies::bisect(graph, static_cast<double>(first) / static_cast<double>(members.size()), seed);
  }
  fit_sides(graph, first, side);
  std::pair<List, List> halves;
  for (std::size_t i = 0; i < members.size(); ++i)
    (side[i] == 0 ? halves.first : halves.second).push_back(members[i]);
  return halves;
}

// Hosts as a graph whose edges are heavier the nearer they are.
topologies::WeightedGraph nearness(const HostDistances& distances, const List& hosts) {
  const auto count = static_cast<std::uint32_t>(hosts.size());
  std::vector<List> near(count);
  std::uint32_t farthest = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    List others;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (k != i) others.push_back(k);
      farthest = std::max(farthest, distances.hops(hosts[i], hosts[k]));
    }
    if (count > kMostEach) {
      std::nth_element(others.begin(), others.begin() + kNearest, others.end(),
                       [&](std::uint32_t a, std::uint32_t b) {
                         return std::pair(distances.hops(hosts[i], hosts[a]), a) <
                                std::pair(distances.hops(hosts[i], hosts[b]), b);
                       });
      others.resize(kNearest);
    }
    for (const std::uint32_t k : others) {
      near[i].push_back(k);
      near[k].push_back(i);
    }
  }
  topologies::WeightedGraph graph;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::sort(near[i].begin(), near[i].end());
    near[i].erase(std::unique(near[i].begin(), near[i].end()), near[i].end());
    graph.vertex_weight.push_back(1);
    for (const std::uint32_t k : near[i]) {
      graph.to.push_back(static_cast<std::int32_t>(k));
      graph.edge_weight.push_back(
          static_cast<std::int32_t>(farthest + 1 - distances.hops(hosts[i], hosts[k])));
    }
    graph.begin.push_back(static_cast<std::int32_t>(graph.to.size()));
  }
  return graph;
}

class Bisection {
 public:
  Bisection(const TalkGraph& graph, const HostDistances& distances, std::uint64_t seed)
      : graph_(graph),
        distances_(distances),
        seed_(seed),
        number_(graph.vertices(), -1),
        at_(graph.vertices(), 0) {}

  // Level by level, so that what others are placed near is known as well as it is here.
  Mapping run(const List& hosts) {
    List all(graph_.vertices());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<Region> regions = {{all, hosts}};
    std::fill(at_.begin(), at_.end(), hosts[hosts.size() / 2]);
    while (!regions.empty()) {
      std::vector<Region> next;
      for (const Region& region : regions) {
        if (region.hosts.size() == 1) {
          at_[region.members[0]] = region.hosts[0];
        } else {
          divide(region, next);
        }
      }
      regions = std::move(next);
    }
    return at_;
  }

 private:
  struct Region {
    List members, hosts;
  };

  void divide(const Region& region, std::vector<Region>& next) {
    const auto first = static_cast<std::uint32_t>(region.hosts.size() / 2);
    auto hosts = split_members(nearness(distances_, region.hosts), region.hosts, first, seed_);
    auto members = split_members(part_of(graph_, region.members, number_), region.members, first, seed_);
    const std::uint32_t one = middle(hosts.first), two = middle(hosts.second);
    // Halves of the same size may change places.
    if (members.first.size() == members.second.size() &&
        outside(members.first, two, region) + outside(members.second, one, region) <
            outside(members.first, one, region) + outside(members.second, two, region)) {
      std::swap(members.first, members.second);
    }
    for (const std::uint32_t v : members.first) at_[v] = one;
    for (const std::uint32_t v : members.second) at_[v] = two;
    next.push_back({std::move(members.first), std::move(hosts.first)});
    next.push_back({std::move(members.second), std::move(hosts.second)});
  }

  // The host that is nearest to all others, or of some of them where they are many.
  std::uint32_t middle(const List& hosts) const {
    const std::size_t stride = hosts.size() / 64 + 1;
    std::uint32_t best = hosts[0];
    std::uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < hosts.size(); i += stride) {
      std::uint64_t sum = 0;
      for (std::size_t k = 0; k < hosts.size(); k += stride) sum += distances_.hops(hosts[i], hosts[k]);
      if (sum < least) {
        least = sum;
        best = hosts[i];
      }
    }
    return best;
  }

  // What members cost on this host by what they send out of their region.
  double outside(const List& members, std::uint32_t host, const Region& region) {
    for (const std::uint32_t v : region.members) number_[v] = 0;
    double cost = 0;
    for (const std::uint32_t v : members) {
      for (std::uint32_t e = graph_.begin[v]; e < graph_.begin[v + 1]; ++e) {
        if (number_[graph_.to[e]] < 0) cost += graph_.bytes[e] * distances_.hops(host, at_[graph_.to[e]]);
      }
    }
    for (const std::uint32_t v : region.members) number_[v] = -1;
    return cost;
  }

  const TalkGraph& graph_;
  const HostDistances& distances_;
  const std::uint64_t seed_;
  std::vector<std::int32_t> number_;
  Mapping at_;  // of each vertex: a host in the middle of its region
};

}  // namespace

Mapping map_by_bisection(const TalkGraph& graph, const HostDistances& distances,
                         std::span<const std::uint32_t> hosts, std::uint64_t seed) {
  return Bisection(graph, distances, seed).run(List(hosts.begin(), hosts.end()));
}

std::vector<std::uint32_t> split_exactly(const TalkGraph& graph, std::span<const std::uint32_t> sizes,
                                         std::uint64_t seed) {
  struct Piece {
    List members;
    std::uint32_t first_part = 0, parts = 1;
  };
  std::vector<std::int32_t> number(graph.vertices(), -1);
  std::vector<std::uint32_t> part(graph.vertices(), 0);
  List all(graph.vertices());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<Piece> pieces = {{all, 0, static_cast<std::uint32_t>(sizes.size())}};
  while (!pieces.empty()) {
    const Piece piece = std::move(pieces.back());
    pieces.pop_back();
    if (piece.parts == 1) {
      for (const std::uint32_t v : piece.members) part[v] = piece.first_part;
      continue;
    }
    const std::uint32_t half = piece.parts / 2;
    const auto begin = sizes.begin() + piece.first_part;
    const std::uint32_t first = std::accumulate(begin, begin + half, 0U);
    auto halves = split_members(part_of(graph, piece.members, number), piece.members, first, seed);
    pieces.push_back({std::move(halves.first), piece.first_part, half});
    pieces.push_back({std::move(halves.second), piece.first_part + half, piece.parts - half});
  }
  return part;
}

}  // namespace weft::placement
