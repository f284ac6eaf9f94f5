#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "topologies/analysis/throughput.h"

namespace weft::topologies {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kHeapWork = 20;  // what a vertex costs in a search, in looks at an arc
// Steps begin large, are kept for windows of kWindow / step phases, and are halved after one that leaves more
// than kWorthwhile of the gap. Measured on meshes, tori and HyperX networks: these took the fewest phases.
constexpr double kFirstStep = 0.2, kLastStep = 0.002, kWindow = 4, kWorthwhile = 0.9;

// Routes all demands once, source by source, over near-shortest paths.
class Router {
 public:
  Router(const FlowNetwork& network, const Demands& demands)
      : network_(network),
        demands_(demands),
        length_(network.arcs()),
        flow_(network.arcs(), 0),
        distance_(network.vertices()),
        amount_(network.vertices(), 0),
        position_(network.vertices()),
        used_(network.arcs(), 0) {
    unit_ = *std::max_element(network.rate.begin(), network.rate.end());
    for (std::uint32_t a = 0; a < network.arcs(); ++a) length_[a] = unit_ / network.rate[a];
  }

  // `step`: the relative growth of the length of an arc that demands times `scale` would just fill; 0:
  // lengths stay as they are. Paths longer than the shortest by up to `slack` of their last arc share the
  // traffic. Returns Σ demand · distance, which is Infinity where a demand has no path.
  double route(double step, double scale, double slack) {
    std::fill(flow_.begin(), flow_.end(), 0);
    double sum = 0;
    for (std::uint32_t s = 0; s < demands_.terminals(); ++s) {
      demands_.from(s, row_);
      if (row_.empty()) continue;
      source_ = network_.vertex_of[s];
      search();
      for (const Demands::Entry& entry : row_) {
        const std::uint32_t v = network_.vertex_of[entry.terminal];
        amount_[v] = entry.rate;
        sum += entry.rate / unit_ * distance_[v];
      }
      if (std::isinf(sum)) return sum;
      load(slack);
      for (const std::uint32_t a : touched_) {
        flow_[a] += used_[a];
        length_[a] *= 1 + step * scale * used_[a] / network_.rate[a];
        used_[a] = 0;
      }
      touched_.clear();
    }
    return sum;
  }

  const std::vector<double>& flow() const { return flow_; }  // of the last route(), bit/s by arc
  std::uint64_t work() const { return work_; }
  // Σ length · rate, in the unit of route()'s sum.
  double volume() const {
    double sum = 0;
    for (std::uint32_t a = 0; a < network_.arcs(); ++a) sum += length_[a] * (network_.rate[a] / unit_);
    return sum;
  }
  // Scales lengths so that their volume is 1: only their ratios matter.
  void normalize() {
    const double factor = 1 / volume();
    for (double& length : length_) length *= factor;
  }
  const std::vector<double>& lengths() const { return length_; }
  void set_lengths(const std::vector<double>& lengths) { length_ = lengths; }

 private:
  // Dijkstra's algorithm over all vertices, with a binary heap that knows positions.
  void search() {
    std::fill(distance_.begin(), distance_.end(), kFar);
    distance_[source_] = 0;
    heap_.assign(1, source_);
    position_[source_] = 0;
    order_.clear();
    while (!heap_.empty()) {
      const std::uint32_t v = pop();
      order_.push_back(v);
      if (v >= network_.routers && v != source_) continue;
      work_ += kHeapWork + 2 * (network_.begin[v + 1] - network_.begin[v]);
      for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
        const std::uint32_t u = network_.to[a];
        const double through = distance_[v] + length_[a];
        if (through >= distance_[u]) continue;
        if (distance_[u] == kFar) {
          position_[u] = static_cast<std::uint32_t>(heap_.size());
          heap_.push_back(u);
        }
        distance_[u] = through;
        rise(position_[u]);
      }
    }
  }

  void place(std::uint32_t at, std::uint32_t v) {
    heap_[at] = v;
    position_[v] = at;
  }
  void rise(std::uint32_t at) {
    const std::uint32_t v = heap_[at];
    for (; at > 0 && distance_[v] < distance_[heap_[(at - 1) / 2]]; at = (at - 1) / 2) {
      place(at, heap_[(at - 1) / 2]);
    }
    place(at, v);
  }
  std::uint32_t pop() {
    const std::uint32_t top = heap_[0], v = heap_.back();
    heap_.pop_back();
    const auto size = static_cast<std::uint32_t>(heap_.size());
    if (size == 0) return top;
    std::uint32_t at = 0;
    for (std::uint32_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && distance_[heap_[child + 1]] < distance_[heap_[child]]) ++child;
      if (distance_[heap_[child]] >= distance_[v]) break;
      place(at, heap_[child]);
      at = child;
    }
    place(at, v);
    return top;
  }

  // From the farthest vertex inwards: what ends at a vertex or passes it came over the arcs into it that lie
  // on a near-shortest path, in proportion to their rates.
  void load(double slack) {
    for (std::size_t i = order_.size(); i-- > 1;) {
      const std::uint32_t v = order_[i];
      const double amount = amount_[v];
      amount_[v] = 0;
      if (amount == 0) continue;
      double ways = 0;
      for (std::uint32_t out = network_.begin[v]; out < network_.begin[v + 1]; ++out) {
        if (usable(network_.reverse[out], network_.to[out], v, slack)) ways += network_.rate[out];
      }
      for (std::uint32_t out = network_.begin[v]; out < network_.begin[v + 1]; ++out) {
        const std::uint32_t in = network_.reverse[out], u = network_.to[out];
        if (!usable(in, u, v, slack)) continue;
        const double share = amount * (network_.rate[out] / ways);
        if (used_[in] == 0) touched_.push_back(in);
        used_[in] += share;
        amount_[u] += share;
      }
    }
    amount_[source_] = 0;
  }

  bool usable(std::uint32_t arc, std::uint32_t from, std::uint32_t to, double slack) const {
    return distance_[from] < distance_[to] && (from < network_.routers || from == source_) &&
           distance_[from] + length_[arc] <= distance_[to] + slack * length_[arc];
  }

  const FlowNetwork& network_;
  const Demands& demands_;
  double unit_ = 1;
  std::vector<double> length_, flow_, distance_, amount_;
  std::vector<std::uint32_t> heap_, position_, order_;
  std::vector<double> used_;            // by the present source
  std::vector<std::uint32_t> touched_;  // arcs
  std::vector<Demands::Entry> row_;
  std::uint32_t source_ = 0;
  std::uint64_t work_ = 0;
};

// The factor by which a flow could be multiplied before an arc is full.
double headroom(const FlowNetwork& network, const std::vector<double>& flow) {
  double most = 0;
  for (std::uint32_t a = 0; a < network.arcs(); ++a) most = std::max(most, flow[a] / network.rate[a]);
  return most > 0 ? 1 / most : 0;
}

}  // namespace

Throughput approximate_throughput(const FlowNetwork& network, const Demands& demands,
                                  const ApproximationLimits& limits) {
  Throughput result;
  result.demands = demands.name();
  if (network.arcs() == 0) {
    std::vector<Demands::Entry> row;
    bool any = false;
    for (std::uint32_t s = 0; s < demands.terminals() && !any; ++s) {
      demands.from(s, row);
      any = !row.empty();
    }
    result.theta = result.theta_upper = any ? 0 : 1;
    return result;
  }
  Router router(network, demands);
  // Phase 0 splits over all shortest paths; for many symmetric networks that is the best there is.
  const double first = router.route(0, 0, 1e-9);
  result.phases = 1;
  if (std::isinf(first)) return result;
  if (first == 0) {
    result.theta = result.theta_upper = 1;
    return result;
  }
  const auto settle = [&] {
    result.theta = std::min(1.0, result.fabric);
    result.theta_upper = std::min(1.0, result.fabric_upper);
  };
  result.fabric = headroom(network, router.flow());
  result.fabric_upper = router.volume() / first;
  settle();
  result.epsilon = kFirstStep;
  std::vector<double> flow_sum(network.arcs(), 0), length_sum(network.arcs(), 0), lengths;
  std::uint64_t window = 0, window_end = static_cast<std::uint64_t>(kWindow / kFirstStep);
  double gap_before = 1;
  while (result.gap() > limits.gap && router.work() < limits.work && result.epsilon > kLastStep) {
    router.route(result.epsilon, result.fabric, result.epsilon);
    ++result.phases;
    router.normalize();
    for (std::uint32_t a = 0; a < network.arcs(); ++a) {
      flow_sum[a] += router.flow()[a];
      length_sum[a] += router.lengths()[a];
    }
    if (++window < window_end) continue;
    // The mean flow is a flow, and the mean lengths make the tighter bound: they no longer sway. The flow
    // over shortest paths under them is tried too.
    result.fabric = std::max(result.fabric, headroom(network, flow_sum) * static_cast<double>(window));
    lengths = router.lengths();
    router.set_lengths(length_sum);
    const double distance = router.route(0, 0, result.epsilon);
    ++result.phases;
    result.fabric_upper = std::min(result.fabric_upper, router.volume() / distance);
    result.fabric = std::max(result.fabric, headroom(network, router.flow()));
    router.set_lengths(lengths);
    settle();
    // A new mean, without what was before; with smaller steps where larger ones no longer help.
    std::fill(flow_sum.begin(), flow_sum.end(), 0);
    std::fill(length_sum.begin(), length_sum.end(), 0);
    window = 0;
    if (result.gap() > kWorthwhile * gap_before) {
      result.epsilon /= 2;
      window_end = static_cast<std::uint64_t>(kWindow / result.epsilon);
    }
    gap_before = result.gap();
  }
  settle();
  return result;
}

}  // namespace weft::topologies
