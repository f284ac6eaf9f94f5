// Makes a GOAL graph of an htsim connection matrix. README.md of this folder says what becomes of it.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer connections_importer();

}  // namespace weft::goal
