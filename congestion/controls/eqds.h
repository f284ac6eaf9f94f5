// Edge-queued datagrams: a receiver pulls packets one by one.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: V. Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022.
const Control& eqds();

}  // namespace weft::congestion
