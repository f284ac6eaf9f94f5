// HPCC: the window follows the fullest link on the way, as its switches tell it.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: Y. Li et al., "HPCC: High precision congestion control", SIGCOMM 2019, algorithm 1. "Once per round
// trip" goes by when packets were sent: the first one sent after the last change ends it.
const Control& hpcc();

}  // namespace weft::congestion
