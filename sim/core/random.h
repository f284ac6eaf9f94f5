// The simulator's name for the random streams of sim/units.
#pragma once

#include "sim/units/random.h"

namespace weft::sim {

using weft::mix64;
using weft::RandomStream;

}  // namespace weft::sim
