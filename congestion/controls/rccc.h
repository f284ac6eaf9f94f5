// Ultra Ethernet's receiver-based congestion control.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Receiver-credit congestion control: see credit_account.h, pull_receiver.h and network_rate.h.
const Control& rccc();

}  // namespace weft::congestion
