// NDP: a pull for each packet that came, whole or as a header.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
// performance", SIGCOMM 2017, section 3.2.
const Control& ndp();

}  // namespace weft::congestion
