// What a graph lacks of the program traced, as summary.json and `weft goal info --json` have it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "goal/not_replayed.h"

namespace weft::results {

nlohmann::ordered_json not_replayed_json(const goal::NotReplayed& not_replayed);

}  // namespace weft::results
