// Bolt's sender, by telemetry in the place of its switches.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: S. Arslan et al., "Bolt: Sub-RTT congestion control for ultra-low latency", NSDI 2023, algorithms 1
// to 3. An approximation: its switches send a packet straight to the sender when a queue is long, and keep
// tokens for spare room and for flows that end. Here ACKs bring what ports hold, a round trip later; a
// sender works out its own share of the spare room; and it is not told of flows that end.
const Control& bolt();

}  // namespace weft::congestion
