// Data Center TCP's congestion control, on packets that are acknowledged one by one.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: RFC 8257 (S. Bensley et al., 2017); M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010.
// Increase, slow start and the answer to losses are TCP's (RFC 5681); the window grows only while it is what
// limits the sender (RFC 7661 §4.3 in spirit).
const Control& dctcp();

}  // namespace weft::congestion
