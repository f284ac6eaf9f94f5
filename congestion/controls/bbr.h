// BBR-like: a rate from what was delivered, and the shortest round trip.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: N. Cardwell et al., "BBR congestion control", draft-cardwell-iccrg-bbr-congestion-control-00
// (2017); delivery rates: draft-cheng-iccrg-delivery-rate-estimation-00. Version 1, without its detection of
// policers.
const Control& bbr();

}  // namespace weft::congestion
