#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// HammingMesh's own routing: minimal and adaptive. On a board a packet goes to the least loaded of the next
// ports on shortest paths: towards an accelerator of the board, or the nearest edge, from where the line of
// its row or column, a switch or a small fat tree, leads to another board, or round to the other edge of the
// same one. Within lines it goes up by the least loaded port too.
//
// A packet goes towards the first side of its board, that of accelerators (0, j), only where no shortest path
// leads across in the other dimension, so that it turns there last of all (north-last, C. J. Glass, L. M. Ni,
// The turn model for adaptive routing, ISCA 1992), and takes the next virtual channel with
// each line that it enters, two at most on shortest paths: with credit:vcs=3,selection=routed there is no
// deadlock. Where links have failed longer ways may need more, and share the last.
//
// For the topology hammingmesh only.
Policy hammingmesh();

}  // namespace weft::routing
