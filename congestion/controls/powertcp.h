// PowerTCP: the window follows the power of the bottleneck, its queue times what arrives there.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: V. Addanki, O. Michel, S. Schmid, "PowerTCP: Pushing the performance limits of datacenter
// networks", NSDI 2022, algorithms 1 (by telemetry) and 2 (theta-PowerTCP, by delay). "Once per round trip"
// goes by when packets were sent: the first one sent after the last change ends it.
const Control& powertcp();

}  // namespace weft::congestion
