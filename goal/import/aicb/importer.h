// AICB's tables of communications to GOAL.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer aicb_importer();

}  // namespace weft::goal
