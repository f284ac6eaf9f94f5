#include "topologies/cost/cables.h"

namespace weft::topologies {

const CablePrice* cheapest_cable(const PriceList& prices, Bandwidth rate, CableKind kind, double length_m) {
  const CablePrice *best = nullptr, *longest = nullptr;
  for (const CablePrice& cable : prices.cables) {
    const bool open = kind == CableKind::kUnknown;
    if (open ? cable.kind == CableKind::kBackplane : cable.kind != kind) continue;
    if (rate > cable.rate) continue;
    if (longest == nullptr || cable.up_to_m > longest->up_to_m) longest = &cable;
    if (length_m > cable.up_to_m) continue;
    if (best == nullptr || cable.price_of(rate, length_m) < best->price_of(rate, length_m)) best = &cable;
  }
  return best == nullptr && kind != CableKind::kUnknown ? longest : best;
}

const BreakoutPrice* cheapest_breakout(const PriceList& prices, const Legs& legs,
                                       const BreakoutLimits& limits) {
  const BreakoutPrice* best = nullptr;
  for (const BreakoutPrice& cable : prices.breakouts) {
    if (cable.both_ends != limits.both_ends || cable.ways < legs.count) continue;
    if (cable.ways < limits.least_ways || cable.ways > limits.most_ways) continue;
    if (legs.rate > cable.rate || cable.port() > limits.port || legs.longest_m > cable.up_to_m) continue;
    if (legs.kind != CableKind::kUnknown && legs.kind != cable.kind) continue;
    if (best == nullptr || cable.price_of(legs.length_m) < best->price_of(legs.length_m)) best = &cable;
  }
  return best;
}

bool may_break_out(CableKind kind) { return kind != CableKind::kBackplane && kind != CableKind::kLongHaul; }

}  // namespace weft::topologies
