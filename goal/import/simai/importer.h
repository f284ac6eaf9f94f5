// Workload files of SimAI and ASTRA-sim 1.0 to GOAL.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer simai_importer();

}  // namespace weft::goal
