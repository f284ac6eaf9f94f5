#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Spraying that leaves out marked paths: packets go in rounds of `paths` as with `spray`, and each entropy
// has a penalty from 0 to 15: plus 1 for an ACK with a mark, plus 4 for a lost or trimmed packet, 15 for one
// that a timeout found lost. An entropy with a penalty is skipped when it is its turn, and the penalty falls
// by one. (htsim's model lowers only the first penalty that a packet comes by: where many paths have one,
// they are avoided for longer, and slow links ridden through less well.)
Policy bitmap();

}  // namespace weft::routing
