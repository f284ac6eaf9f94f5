// Makes a GOAL graph of the text files of liballprof. README.md of this folder has the rules.
#pragma once

#include "goal/import/importer.h"

namespace weft::goal {

Importer liballprof_importer();

}  // namespace weft::goal
