// Makes a GOAL graph of a DUMPI trace. README.md of this folder has the rules.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer dumpi_importer();

}  // namespace weft::goal
