// The communication of a three-dimensional FFT.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload fft_workload();

}  // namespace weft::goal
