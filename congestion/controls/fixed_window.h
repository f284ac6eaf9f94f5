// A window that never changes: the simplest control, and the yardstick for the others.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// `packets` full packets may be in flight, whatever happens.
const Control& fixed_window();

}  // namespace weft::congestion
