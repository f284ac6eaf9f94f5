// CUBIC: TCP's window as a cubic function of the time since the last cut.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: RFC 9438. Without HyStart++ (RFC 9406): slow start ends with the first loss or mark.
const Control& cubic();

}  // namespace weft::congestion
