#include "topologies/analysis/distances.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/units/random.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kWords = 4, kBlock = 64 * kWords;
using Bits = std::array<std::uint64_t, kWords>;  // one bit for each source of a block

bool any(const Bits& bits) { return (bits[0] | bits[1] | bits[2] | bits[3]) != 0; }

// Breadth-first searches from up to kBlock sources at once.
class Sweep {
 public:
  Sweep(const ArcGraph& graph, std::uint32_t forwarding)
      : graph_(graph),
        forwarding_(forwarding),
        seen_(graph.vertices()),
        front_(graph.vertices()),
        next_(graph.vertices()) {}

  // Calls reached(v, bits, hops) for every vertex and number of hops at which some of the sources, those of
  // `bits`, reach it first.
  template <typename Reached>
  void run(std::span<const std::uint32_t> sources, const Reached& reached) {
    std::fill(seen_.begin(), seen_.end(), Bits{});
    active_.clear();
    all_ = {};
    for (std::uint32_t i = 0; i < sources.size(); ++i) {
      const std::uint32_t s = sources[i];
      if (!any(front_[s])) active_.push_back(s);
      front_[s][i / 64] |= std::uint64_t{1} << i % 64;
      all_[i / 64] |= std::uint64_t{1} << i % 64;
    }
    std::uint32_t done = 0;  // vertices that all sources have reached
    for (const std::uint32_t s : active_) {
      seen_[s] = front_[s];
      done += seen_[s] == all_;
      reached(s, front_[s], 0);
    }
    for (std::uint32_t hops = 1; !active_.empty(); ++hops) {
      touched_.clear();
      for (const std::uint32_t v : active_) {
        // The last step of a search in which all reach all would find nothing, and is its largest.
        if (done < graph_.vertices() && (v < forwarding_ || hops == 1)) spread(v);
        front_[v] = Bits{};
      }
      active_.clear();
      for (const std::uint32_t v : touched_) {
        for (std::uint32_t w = 0; w < kWords; ++w) {
          front_[v][w] = next_[v][w] & ~seen_[v][w];
          seen_[v][w] |= next_[v][w];
        }
        next_[v] = Bits{};
        if (!any(front_[v])) continue;
        active_.push_back(v);
        done += seen_[v] == all_;
        reached(v, front_[v], hops);
      }
    }
  }

 private:
  void spread(std::uint32_t v) {
    const Bits bits = front_[v];
    for (std::uint32_t a = graph_.begin[v]; a < graph_.begin[v + 1]; ++a) {
      if (seen_[graph_.to[a]] == all_) continue;
      Bits& next = next_[graph_.to[a]];
      if (!any(next)) touched_.push_back(graph_.to[a]);
      for (std::uint32_t w = 0; w < kWords; ++w) next[w] |= bits[w];
    }
  }

  const ArcGraph& graph_;
  std::uint32_t forwarding_;
  Bits all_ = {};  // the bits of all sources of this run
  std::vector<Bits> seen_, front_, next_;
  std::vector<std::uint32_t> active_, touched_;
};

template <typename Visit>
void for_blocks(std::span<const std::uint32_t> sources, const Visit& visit) {
  for (std::size_t at = 0; at < sources.size(); at += kBlock) {
    visit(sources.subspan(at, std::min<std::size_t>(kBlock, sources.size() - at)));
  }
}

}  // namespace

void visit_distances(const ArcGraph& graph, std::span<const std::uint32_t> sources,
                     const std::function<void(std::uint32_t, std::span<const std::uint8_t>)>& visit,
                     std::uint32_t forwarding) {
  Sweep sweep(graph, forwarding);
  const std::size_t n = graph.vertices();
  std::vector<std::uint8_t> rows(std::min<std::size_t>(kBlock, sources.size()) * n);
  for_blocks(sources, [&](std::span<const std::uint32_t> block) {
    std::fill(rows.begin(), rows.end(), kUnreachable);
    sweep.run(block, [&](std::uint32_t v, const Bits& bits, std::uint32_t hops) {
      const auto value = static_cast<std::uint8_t>(std::min<std::uint32_t>(hops, kUnreachable));
      for (std::uint32_t w = 0; w < kWords; ++w) {
        for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
          rows[(64 * w + static_cast<std::uint32_t>(std::countr_zero(left))) * n + v] = value;
        }
      }
    });
    for (std::size_t i = 0; i < block.size(); ++i) visit(block[i], {rows.data() + i * n, n});
  });
}

DistanceSummary distance_summary(const ArcGraph& graph, std::span<const std::uint32_t> among,
                                 std::uint64_t most_sources, std::uint64_t seed) {
  DistanceSummary summary;
  const std::vector<std::uint32_t> sources = sample(among, most_sources, seed, 0);
  summary.sources = sources.size();
  summary.sampled = sources.size() < among.size();
  std::vector<bool> counts(graph.vertices(), false);
  for (const std::uint32_t v : among) counts[v] = true;
  Sweep sweep(graph, graph.vertices());
  summary.histogram.assign(1, 0);
  for_blocks(sources, [&](std::span<const std::uint32_t> block) {
    sweep.run(block, [&](std::uint32_t v, const Bits& bits, std::uint32_t hops) {
      if (!counts[v] || hops == 0) return;
      if (summary.histogram.size() <= hops) summary.histogram.resize(hops + 1, 0);
      for (const std::uint64_t word : bits) {
        summary.histogram[hops] += static_cast<std::uint64_t>(std::popcount(word));
      }
    });
  });
  std::uint64_t pairs = 0;
  double total = 0;
  for (std::size_t hops = 1; hops < summary.histogram.size(); ++hops) {
    pairs += summary.histogram[hops];
    total += static_cast<double>(hops) * static_cast<double>(summary.histogram[hops]);
  }
  summary.diameter = static_cast<std::uint32_t>(summary.histogram.size()) - 1;
  summary.average = pairs == 0 ? 0 : total / static_cast<double>(pairs);
  summary.unreachable = among.empty() ? 0 : sources.size() * (among.size() - 1) - pairs;
  return summary;
}

std::vector<std::uint32_t> sample(std::span<const std::uint32_t> from, std::uint64_t count,
                                  std::uint64_t seed, std::uint64_t purpose) {
  // Selection sampling: each entry is taken with the share that is still wanted of those still to come.
  RandomStream random(seed, 0, purpose);
  std::vector<std::uint32_t> chosen;
  std::uint64_t left = std::min<std::uint64_t>(count, from.size());
  for (std::size_t i = 0; i < from.size() && left > 0; ++i) {
    if (random.below(from.size() - i) >= left) continue;
    chosen.push_back(from[i]);
    --left;
  }
  return chosen;
}

}  // namespace weft::topologies
