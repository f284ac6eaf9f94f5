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
  // User bytes of messages that began in the window, and those that were delivered in it (of a message that
  // was under way when it began or ended, its share by time), as shares of capacity.
  double offered = 0, accepted = 0;
  // A network that keeps up accepts what is offered, but for 5%, and for chance: three standard deviations of
  // what is under way at both ends. Else completion times grow with the length of the run.
  bool keeps_up = true;
  FlowStatistics::Times times;  // of messages that began in the window
};

// REQUIRES: window.from < window.until, capacity_bps > 0; `flows` are all messages that were delivered.
OpenLoop open_loop(const OpenLoopWindow& window, std::span<const Flow> flows);

}  // namespace weft::results
