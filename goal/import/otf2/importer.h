// Makes a GOAL graph of an OTF2 archive. README.md of this folder has the rules.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer otf2_importer();

}  // namespace weft::goal
