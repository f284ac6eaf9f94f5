// Flowcut switching in NICs.
#pragma once

#include "sim/routing/path_selector.h"
#include "sim/routing/policies/flowcut_settings.h"
#include "sim/routing/switch_plan.h"

namespace weft::routing {

// In the order of the counts that selectors keep.
inline constexpr const char* kFlowcutPathSignals[] = {"flowcut", "drain", "expired_flowcut"};

PathSelectorMaker flowcut_selectors(const PlanSetup& setup, const FlowcutSettings& settings);

}  // namespace weft::routing
