// Makes a GOAL graph of an SPC block trace. README.md of this folder has the rules.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer spc_importer();

}  // namespace weft::goal
