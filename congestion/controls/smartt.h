// SMaRTT: four answers to marks and round trips, and a quick way down after trimming.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: T. Bonato et al., "SMaRTT-REPS: Sender-based marked rapidly-adapting trimmed & timed transport",
// arXiv 2404.01630 (first version), with the gains of its artifact. Its load balancing is the routing policy
// `reps`.
const Control& smartt();

}  // namespace weft::congestion
