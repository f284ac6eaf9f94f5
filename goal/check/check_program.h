// The check of collectives for a program wherever it is, as a replay has it.
#pragma once

#include "goal/check/check.h"
#include "goal/program.h"

namespace weft::goal {

// As check_collectives() of a graph; a packed file is read rank by rank.
Report check_collectives(const Program& program, const CheckOptions& options = {});

}  // namespace weft::goal
