// Progressive filling over all flows at once, as the textbook has it: the reference for the solver.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/flow/max_min.h"

namespace weft::sim::flow {

struct NaiveFlow {
  std::vector<Use> uses;
  double weight = 1, cap = 1e300;
};

// Rates of all flows: raises the levels of all flows alike, and stops those at their cap and those that cross
// a resource that is full (Bertsekas, Gallager, Data networks, §6.5.2).
inline std::vector<double> naive_rates(const std::vector<double>& capacity,
                                       const std::vector<NaiveFlow>& flows) {
  std::vector<double> rate(flows.size(), 0), left = capacity;
  std::vector<bool> stopped(flows.size());
  double level = 0;
  for (std::size_t open = flows.size(); open > 0;) {
    double step = 1e300;
    std::vector<double> demand(capacity.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (stopped[f]) continue;
      for (const Use& use : flows[f].uses) demand[use.resource] += flows[f].weight * use.share / kWhole;
      step = std::min(step, flows[f].cap / flows[f].weight - level);
    }
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      if (demand[r] > 0) step = std::min(step, left[r] / demand[r]);
    }
    step = std::max(step, 0.0);
    level += step;
    for (std::size_t r = 0; r < capacity.size(); ++r) left[r] -= step * demand[r];
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (stopped[f]) continue;
      rate[f] = level * flows[f].weight;
      bool full = rate[f] >= flows[f].cap * (1 - 1e-12);
      for (const Use& use : flows[f].uses) full |= left[use.resource] <= 1e-12 * capacity[use.resource];
      if (!full) continue;
      stopped[f] = true;
      --open;
    }
  }
  return rate;
}

}  // namespace weft::sim::flow
