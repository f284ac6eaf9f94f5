// Permutations that follow from a rank's number alone: no draws, the same for every seed.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

// Rank r sends to (r + by) mod n.
Workload shift_workload();
// Every coordinate of a torus moves by one less than half its dimension, rounded up: ⌈k/2⌉ - 1.
Workload tornado_workload();
// Rank r of n = 2^b sends to the rank with all b bits inverted, n - 1 - r.
Workload bit_complement_workload();
// Rank r of n = 2^b sends to the rank with the b bits in the opposite order; palindromes send nothing.
Workload bit_reverse_workload();
// Rank i·s + j of n = s² sends to rank j·s + i; the diagonal sends nothing.
Workload transpose_workload();
// Rank r of an even n sends to the one half of all ranks away, which sends to it.
Workload bisection_workload();

}  // namespace weft::goal
