// Takes graphs of other GOAL tools, text or binary, like traces.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer goal_importer();

}  // namespace weft::goal
