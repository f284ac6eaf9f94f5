// Makes a GOAL graph of Nsight Systems reports. README.md of this folder has the rules.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer nsys_importer();

}  // namespace weft::goal
