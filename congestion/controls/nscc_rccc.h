// Both of Ultra Ethernet's congestion controls together.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// A packet needs nscc's window and rccc's credit.
const Control& nscc_rccc();

}  // namespace weft::congestion
