#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// One entropy for each flow, hashed by every switch (hash_choice): a flow keeps one path, and flows spread
// evenly on average. It is the built-in rule, so it has no factories.
Policy ecmp();

}  // namespace weft::routing
