// The routing policies that are built in.
#pragma once

#include <span>

#include "sim/routing/routing.h"

namespace weft::routing {

std::span<const Policy> policies();

}  // namespace weft::routing
