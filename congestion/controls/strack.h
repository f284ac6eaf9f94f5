// STrack: a window kept at a target round trip, and a jump to what got through where queues are long.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: Y. Le et al., "STrack: a reliable multipath transport for AI/ML clusters", arXiv 2407.15266; the
// form and gains are those of its public model. Its load balancing by marks is the routing policy `bitmap`.
const Control& strack();

}  // namespace weft::congestion
