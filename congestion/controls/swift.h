// Swift: a window that holds the delay at a target.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: G. Kumar et al., "Swift: delay is simple and effective for congestion control in the datacenter",
// SIGCOMM 2020, algorithm 1 and section 3; constants the paper doesn't give are those of htsim's Swift.
const Control& swift();

}  // namespace weft::congestion
