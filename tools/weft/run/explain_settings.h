// Settings that were chosen, and changed nothing in a run.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "sim/results/report.h"
#include "tools/weft/run/rerun.h"

namespace weft::cli {

// What of the scenario is neither a default nor of its fabric, and without which the run takes the same
// course to the picosecond: all ranks, links and signals. That is found by making the run again, once for
// each, with the default in its place; with a constant window in that of a congestion control; with the
// routing that the topology and the fabric have. Of each `setting` and `why`. `base`: the run itself.
// `chose_channels`: virtual channels that the run chose stand in the scenario as if they were given.
nlohmann::ordered_json settings_without_effect(Rerun& rerun, const results::Report& base,
                                               bool chose_channels);

}  // namespace weft::cli
