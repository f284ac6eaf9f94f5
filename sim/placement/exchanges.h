// Who sends how much to whom in a program: what placements by communication matrix go by.
#pragma once

#include <vector>

#include "goal/collectives/selection.h"
#include "goal/program.h"
#include "sim/placement/placement.h"

namespace weft::placement {

// As Request::exchanges wants them. Collectives count as the messages that `selection` makes of them. Reads
// all operations of the program, one rank's after the other's. Memory: by pairs of ranks. Throws InputError
// where a file is damaged, and for collectives that can't be had or are called by a rank that is no member.
std::vector<Exchange> exchanges_of(const goal::Program& program, const goal::CollectiveSelection& selection);

}  // namespace weft::placement
