// Which cable of a price list a link gets.
#pragma once

#include "topologies/cost/price_list.h"

namespace weft::topologies {

// Links that may share a cable: their number and rate, what kind of cable the network says they have, and how
// long they are: the longest, and all together.
struct Legs {
  std::uint32_t count = 1;
  Bandwidth rate;
  CableKind kind = CableKind::kUnknown;
  double longest_m = 0, length_m = 0;
};

// The cheapest cable from port to port that carries `rate` that far; null if there is none. A network's word
// on the kind stands, whatever the length that we guess: then the longest there is.
const CablePrice* cheapest_cable(const PriceList& prices, Bandwidth rate, CableKind kind, double length_m);

// What a port of `port` may be broken out into; `both_ends`: whether the legs' other ends are ports that are
// broken out, too.
struct BreakoutLimits {
  Bandwidth port;
  std::uint32_t least_ways = 2, most_ways = 2;
  bool both_ends = false;
};

// The cheapest breakout cable for these legs; null if there is none.
const BreakoutPrice* cheapest_breakout(const PriceList& prices, const Legs& legs,
                                       const BreakoutLimits& limits);

// Traces and leased fibres have a port of their own at each end.
bool may_break_out(CableKind kind);

}  // namespace weft::topologies
