// TIMELY: a rate that follows the slope of round trips.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: R. Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015,
// algorithm 1; segment size and constants as in Y. Zhu et al., "ECN or delay", CoNEXT 2016, table 2.
const Control& timely();

}  // namespace weft::congestion
