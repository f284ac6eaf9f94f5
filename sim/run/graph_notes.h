// What a generator noted in its graph for the results of a run. It no longer holds for graphs that were
// changed since.
#pragma once

#include <optional>
#include <string>

#include "goal/program.h"
#include "sim/results/open_loop.h"

namespace weft::sim {

// The window in which open-loop traffic is measured. None for programs whose messages wait for each other.
std::optional<results::OpenLoopWindow> open_loop_window(const goal::Program& program);

// Tokens that one run of the graph trains on; 0 where it doesn't say.
double noted_tokens(const goal::Program& program);

// FLOPs of the model that one run of the graph comes to on all ranks, and those that a rank's device computes
// a second at most; 0 where it doesn't say.
double noted_model_flops(const goal::Program& program);
double noted_device_flops(const goal::Program& program);

// The device that it was reckoned on; "" where it doesn't say, or takes other times by now.
std::string noted_device(const goal::Program& program);

// How many times as long computing takes beside collectives of the same rank; 1 where it doesn't say.
double noted_overlap_slowdown(const goal::Program& program);

}  // namespace weft::sim
