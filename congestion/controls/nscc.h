// Ultra Ethernet's sender-based congestion control.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Network-signalled congestion control: see nscc_window.h.
const Control& nscc();

}  // namespace weft::congestion
