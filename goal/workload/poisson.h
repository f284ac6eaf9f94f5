// Open-loop traffic: messages arrive at each rank in a Poisson process, whatever became of those before.
#pragma once

#include "goal/workload/workload.h"
#include "sim/units/random.h"

namespace weft::goal {

// Every rank starts λ = load · rate / (8 · mean size) messages a second: on average they are as many payload
// bytes as `load` of its link carries. Gaps are exponential, receivers drawn from all other ranks, sizes from
// the distribution; each from a stream of its own, so that the same seed gives the same sizes at any load.
Workload poisson_workload();

// A draw from the exponential distribution of mean 1. By comparisons only, without a logarithm, so that every
// machine draws the same. Source: J. von Neumann, "Various techniques used in connection with random digits",
// National Bureau of Standards Applied Mathematics Series 12, 1951.
double draw_exponential(RandomStream& random);

}  // namespace weft::goal
