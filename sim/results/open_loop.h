// Open-loop traffic: messages arrive as they like, whatever became of those before. Its figures are of the
// messages that begin in a window, when the network has filled and before arrivals end; how long the run took
// says nothing.
#pragma once

#include <cstdint>
#include <span>

#include "sim/results/flow.h"
#include "sim/results/flow_statistics.h"
#include "sim/units/quantity.h"

namespace weft::results {

struct OpenLoopWindow {
  Time from, until;
  double load = 0;          // asked for, as a share of capacity
  double capacity_bps = 0;  // of all hosts' links together
};

struct OpenLoop {
  OpenLoopWindow window;
  // User bytes of messages that began, and of those that ended, in the window, as shares of capacity. A
  // network that keeps up accepts what is offered.
  double offered = 0, accepted = 0;
  FlowStatistics::Times times;  // of messages that began in the window
};

// REQUIRES: window.from < window.until, capacity_bps > 0; `flows` are all messages that were delivered.
OpenLoop open_loop(const OpenLoopWindow& window, std::span<const Flow> flows);

// Below this share of what is offered, a network doesn't keep up, and completion times grow with the length
// of the run.
inline constexpr double kKeepsUp = 0.95;
inline bool keeps_up(const OpenLoop& figures) { return figures.accepted >= kKeepsUp * figures.offered; }

}  // namespace weft::results
