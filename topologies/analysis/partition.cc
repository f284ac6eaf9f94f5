#include "topologies/analysis/partition.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/units/input_error.h"
#include "topologies/analysis/metis.h"
#include "topologies/analysis/traffic.h"

namespace weft::topologies {
namespace {

constexpr double kWeightSum = 1e8;        // METIS counts in 32 bits
constexpr double kGoodBalance = 1.10;     // heaviest part over the mean: better is not worth a worse cut
constexpr double kWorthSplitting = 0.95;  // a finer graph must lower the heaviest part to this

// The network with some links contracted, for METIS, and the weights before they were rounded.
struct Contraction {
  std::vector<std::uint32_t> of_vertex;
  std::vector<double> weight;
  WeightedGraph graph;
  double heaviest() const { return *std::max_element(weight.begin(), weight.end()); }
};

struct Split {
  std::vector<std::uint32_t> of_vertex;
  double heaviest = std::numeric_limits<double>::infinity();  // weight of the heaviest part
};

// Sets of vertices that stay together.
class Sets {
 public:
  explicit Sets(std::uint32_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  // The lower number stands for both.
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

// Whether all links of `host` lead to one node.
bool has_one_neighbor(const Topology& topology, Vertex host) {
  const auto out = topology.out_channels(host);
  const auto& channels = topology.channels();
  return std::all_of(out.begin(), out.end(),
                     [&](std::uint32_t c) { return channels[c].to == channels[out[0]].to; });
}

// Positive whole numbers in proportion to `weights`, with a sum near kWeightSum.
std::vector<std::int32_t> rounded(const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int32_t> result;
  result.reserve(weights.size());
  for (const double weight : weights) {
    result.push_back(1 + (total > 0 ? static_cast<std::int32_t>(weight / total * kWeightSum) : 0));
  }
  return result;
}

class Partitioner {
 public:
  Partitioner(const Topology& topology, const ExpectedTraffic& traffic, std::uint32_t parts,
              std::uint64_t seed)
      : topology_(topology), traffic_(traffic), parts_(parts), seed_(seed) {}

  // From coarse to fine: the first good balance is taken.
  Split run() const {
    const double mean = std::accumulate(traffic_.node.begin(), traffic_.node.end(), 0.0) / parts_;
    Split best;
    std::size_t last_size = 0;
    const auto good_enough = [&](bool keep_hosts, Time shortest) {
      const Contraction contraction = contract(keep_hosts, shortest);
      // Contractions are nested, so as many sets are the same sets.
      if (contraction.weight.size() == last_size) return false;
      last_size = contraction.weight.size();
      if (contraction.heaviest() > kWorthSplitting * best.heaviest) return false;
      Split found = evaluate(contraction);
      if (found.heaviest <= kWorthSplitting * best.heaviest) best = std::move(found);
      return best.heaviest <= kGoodBalance * mean;
    };
    Time longest;
    for (std::size_t c = 0; c < topology_.channels().size(); c += 2) {
      if (!leads_home(c)) longest = std::max(longest, topology_.channels()[c].latency);
    }
    for (std::int64_t shortest = longest.ps() / 2; shortest > 0; shortest /= 2) {
      if (good_enough(true, Time::ps(shortest))) return best;
    }
    if (!good_enough(true, Time())) good_enough(false, Time());
    return best;
  }

 private:
  // Whether channel `c` or its way back is a host's only way out.
  bool leads_home(std::size_t c) const {
    for (const std::uint32_t v : {topology_.channels()[c].from, topology_.channels()[c].to}) {
      if (topology_.node(v).kind == NodeKind::kHost && has_one_neighbor(topology_, v)) return true;
    }
    return false;
  }

  // Contracts links without latency and those shorter than `shortest`, and with `keep_hosts` hosts into the
  // only node they are linked to.
  Contraction contract(bool keep_hosts, Time shortest) const {
    const auto& channels = topology_.channels();
    Sets sets(topology_.nodes());
    for (std::size_t c = 0; c < channels.size(); c += 2) {
      const Time latency = channels[c].latency;
      if (latency <= Time() || latency < shortest || (keep_hosts && leads_home(c))) {
        sets.join(channels[c].from, channels[c].to);
      }
    }
    Contraction result;
    result.of_vertex.resize(topology_.nodes());
    for (std::uint32_t v = 0; v < topology_.nodes(); ++v) {
      const std::uint32_t set = sets.find(v);
      if (set == v) {
        result.of_vertex[v] = static_cast<std::uint32_t>(result.weight.size());
        result.weight.push_back(0);
      } else {
        result.of_vertex[v] = result.of_vertex[set];
      }
      result.weight[result.of_vertex[v]] += traffic_.node[v];
    }
    result.graph = graph_of(result);
    return result;
  }

  WeightedGraph graph_of(const Contraction& contraction) const {
    struct Edge {
      std::uint64_t ends;  // from in the upper half, to in the lower
      double weight;
    };
    const auto& channels = topology_.channels();
    std::vector<Edge> edges;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const std::uint64_t from = contraction.of_vertex[channels[c].from];
      const std::uint64_t to = contraction.of_vertex[channels[c].to];
      if (from != to) edges.push_back({from << 32 | to, traffic_.link[c / 2]});
    }
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.ends < b.ends; });
    WeightedGraph graph;
    graph.vertex_weight = rounded(contraction.weight);
    std::vector<double> weights;
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (i > 0 && edges[i].ends == edges[i - 1].ends) {
        weights.back() += edges[i].weight;
        continue;
      }
      for (; at < edges[i].ends >> 32; ++at) graph.begin.push_back(static_cast<std::int32_t>(weights.size()));
      graph.to.push_back(static_cast<std::int32_t>(edges[i].ends & 0xffff'ffff));
      weights.push_back(edges[i].weight);
    }
    for (; at < graph.vertices(); ++at) graph.begin.push_back(static_cast<std::int32_t>(weights.size()));
    graph.edge_weight = rounded(weights);
    return graph;
  }

  Split evaluate(const Contraction& contraction) const {
    const std::vector<std::uint32_t> part = split(contraction.graph, parts_, seed_);
    std::vector<double> weight(parts_);
    for (std::size_t s = 0; s < part.size(); ++s) weight[part[s]] += contraction.weight[s];
    Split result;
    result.heaviest = *std::max_element(weight.begin(), weight.end());
    result.of_vertex.reserve(topology_.nodes());
    for (const std::uint32_t s : contraction.of_vertex) result.of_vertex.push_back(part[s]);
    return result;
  }

  const Topology& topology_;
  const ExpectedTraffic& traffic_;
  std::uint32_t parts_;
  std::uint64_t seed_;
};

// Numbers the parts without gaps and measures the cut.
Partitioning finished(const Topology& topology, const std::vector<std::uint32_t>& of_vertex) {
  constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  static_assert(kMostParts < kNone);
  Partitioning result;
  std::vector<std::uint16_t> number(kMostParts, kNone);
  result.of_vertex.reserve(of_vertex.size());
  for (const std::uint32_t part : of_vertex) {
    if (number[part] == kNone) number[part] = static_cast<std::uint16_t>(result.parts++);
    result.of_vertex.push_back(number[part]);
  }
  for (const Channel& channel : topology.channels()) {
    if (result.of_vertex[channel.from] == result.of_vertex[channel.to]) continue;
    ++result.cut_channels;
    result.lookahead = std::min(result.lookahead, channel.latency);
  }
  return result;
}

}  // namespace

Partitioning partition(const Topology& topology, std::uint32_t parts, std::span<const double> host_load,
                       std::uint64_t seed) {
  if (parts < 1 || parts > kMostParts) {
    throw InputError(
        fmt::format("{}: {} parts; it can be split into 1 to {}", topology.name(), parts, kMostParts));
  }
  if (parts == 1) return finished(topology, std::vector<std::uint32_t>(topology.nodes(), 0));
  const ExpectedTraffic traffic = expected_traffic(topology, host_load);
  return finished(topology, Partitioner(topology, traffic, parts, seed).run().of_vertex);
}

}  // namespace weft::topologies
