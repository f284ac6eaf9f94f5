// TCP NewReno's congestion control: the classic baseline.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: RFC 5681, RFC 6582; first window as RFC 6928 has it for 1500-byte packets; marks: RFC 3168.
const Control& newreno();

}  // namespace weft::congestion
