// Files of version 1. For this folder only.
#pragma once

#include "goal/graph/graph.h"
#include "goal/pack/frame.h"
#include "goal/pack/pack.h"

namespace weft::goal::pack {

// Reads a whole file whose header says version 1. Throws InputError with rank and byte where it is damaged.
Graph read_version_1(FrameReader& frames, PackInfo* info);

}  // namespace weft::goal::pack
