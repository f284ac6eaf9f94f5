// The placement policies of this folder, each in the file of its name.
#pragma once

#include "sim/placement/placement.h"

namespace weft::placement {

// Hosts next to each other in number.
Policy packed();
// Any free hosts, all choices equally likely.
Policy random();

}  // namespace weft::placement
