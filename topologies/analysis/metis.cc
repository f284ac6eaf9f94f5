#include "topologies/analysis/metis.h"

#include <fmt/core.h>
#include <metis.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace weft::topologies {
namespace {

static_assert(std::is_same_v<idx_t, std::int32_t>, "Debian builds METIS with 32-bit indices");

constexpr std::int32_t kImbalance = 30;  // in thousandths, of the whole: each step gets its share

// Side 0 or 1 for each vertex; side 0 is to have `share` of the weight.
std::vector<idx_t> bisection(const WeightedGraph& graph, real_t share, idx_t imbalance, std::uint64_t seed) {
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & std::numeric_limits<idx_t>::max());
  options[METIS_OPTION_UFACTOR] = imbalance;
  options[METIS_OPTION_NUMBERING] = 0;
  real_t shares[2] = {share, 1 - share};
  auto count = static_cast<idx_t>(graph.vertices());
  idx_t constraints = 1, sides = 2, cut = 0;
  std::vector<idx_t> side(graph.vertices());
  // METIS takes pointers to what it does not change.
  const auto input = [](const std::vector<idx_t>& list) { return const_cast<idx_t*>(list.data()); };
  const int status = METIS_PartGraphRecursive(&count, &constraints, input(graph.begin), input(graph.to),
                                              input(graph.vertex_weight), nullptr, input(graph.edge_weight),
                                              &sides, shares, nullptr, options, &cut, side.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) throw std::logic_error(fmt::format("METIS refused a graph (status {})", status));
  return side;
}

// The vertices of one side with the edges among them.
WeightedGraph subgraph(const WeightedGraph& graph, const std::vector<std::uint32_t>& members) {
  std::vector<std::int32_t> number(graph.vertices(), -1);
  for (std::size_t i = 0; i < members.size(); ++i) number[members[i]] = static_cast<std::int32_t>(i);
  WeightedGraph result;
  for (const std::uint32_t v : members) {
    result.vertex_weight.push_back(graph.vertex_weight[v]);
    for (std::int32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      if (number[graph.to[e]] < 0) continue;
      result.to.push_back(number[graph.to[e]]);
      result.edge_weight.push_back(graph.edge_weight[e]);
    }
    result.begin.push_back(static_cast<std::int32_t>(result.to.size()));
  }
  return result;
}

// The vertices that are a part each as they outweigh what is left for one, from the heaviest on; at most one
// less than `parts`.
std::vector<std::uint32_t> outweighing(const WeightedGraph& graph, std::uint32_t parts) {
  std::vector<std::uint32_t> by_weight(graph.vertices());
  std::iota(by_weight.begin(), by_weight.end(), 0U);
  std::int64_t left =
      std::accumulate(graph.vertex_weight.begin(), graph.vertex_weight.end(), std::int64_t{0});
  // As many as may be asked for: there are often none, and never more than parts.
  const std::size_t most = std::min<std::size_t>(parts, by_weight.size());
  std::partial_sort(by_weight.begin(), by_weight.begin() + static_cast<std::ptrdiff_t>(most), by_weight.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const auto weight = [&](std::uint32_t v) { return graph.vertex_weight[v]; };
                      return weight(a) != weight(b) ? weight(a) > weight(b) : a < b;
                    });
  std::vector<std::uint32_t> result;
  for (std::uint32_t parts_left = parts; parts_left > 1; --parts_left) {
    const std::uint32_t v = by_weight[result.size()];
    const std::int64_t weight = graph.vertex_weight[v];
    if (weight * parts_left < left - left / 10'000) break;  // but for rounding
    left -= weight;
    result.push_back(v);
  }
  return result;
}

std::vector<std::uint32_t> split(const WeightedGraph& graph, std::uint32_t parts, idx_t imbalance,
                                 std::uint64_t seed) {
  const std::uint32_t count = graph.vertices();
  std::vector<std::uint32_t> part(count, 0);
  if (parts == 1) return part;
  if (count <= parts) {
    std::iota(part.begin(), part.end(), 0U);
    return part;
  }
  std::vector<std::uint32_t> alone = outweighing(graph, parts);
  std::uint32_t left = parts / 2, right_count = 0;
  std::vector<idx_t> side;
  if (alone.empty()) {
    side = bisection(graph, static_cast<real_t>(left) / static_cast<real_t>(parts), imbalance, seed);
    right_count = static_cast<std::uint32_t>(std::accumulate(side.begin(), side.end(), 0));
    if (right_count == 0 || right_count == count) {
      const auto heaviest = std::max_element(graph.vertex_weight.begin(), graph.vertex_weight.end());
      alone.push_back(static_cast<std::uint32_t>(heaviest - graph.vertex_weight.begin()));
    }
  }
  if (!alone.empty()) {
    // All at once: each would cost a copy of the graph.
    side.assign(count, 1);
    for (const std::uint32_t v : alone) side[v] = 0;
    left = static_cast<std::uint32_t>(alone.size());
    right_count = count - left;
  }
  // A side can't have more parts than vertices: the other side gets what it leaves.
  const std::uint32_t right_parts = std::min(parts - std::min(left, count - right_count), right_count);
  const std::uint32_t parts_of[2] = {parts - right_parts, right_parts};
  for (const idx_t s : {0, 1}) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t v = 0; v < count; ++v) {
      if (side[v] == s) members.push_back(v);
    }
    const auto inner = split(subgraph(graph, members), parts_of[s], imbalance, seed);
    for (std::size_t i = 0; i < members.size(); ++i) part[members[i]] = (s == 0 ? 0 : parts_of[0]) + inner[i];
  }
  return part;
}

}  // namespace

std::vector<std::uint32_t> split(const WeightedGraph& graph, std::uint32_t parts, std::uint64_t seed) {
  return split(graph, parts, std::max(1, kImbalance / static_cast<int>(std::bit_width(parts))), seed);
}

std::vector<std::uint32_t> bisect(const WeightedGraph& graph, std::uint64_t seed) {
  return bisect(graph, 0.5, seed);
}

std::vector<std::uint32_t> bisect(const WeightedGraph& graph, double share, std::uint64_t seed) {
  const std::vector<idx_t> side = bisection(graph, static_cast<real_t>(share), 1, seed);
  return {side.begin(), side.end()};
}

}  // namespace weft::topologies
