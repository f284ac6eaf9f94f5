// The window in which open-loop traffic is measured, from what its generator noted in the graph.
#pragma once

#include <optional>

#include "goal/program.h"
#include "sim/results/open_loop.h"

namespace weft::sim {

// None for programs whose messages wait for each other, and for graphs that were changed since they were
// generated: their messages begin at other times.
std::optional<results::OpenLoopWindow> open_loop_window(const goal::Program& program);

}  // namespace weft::sim
