// Do a graph's operations name only what is there?
#pragma once

#include "goal/graph/graph.h"

namespace weft::goal {

// Throws InputError that names `what`, the first operation with a peer, communicator, root, neighbor or list
// of bytes that does not exist or does not fit, and advises `weft goal check`. For transforms that look
// things up by these.
void require_references(const Graph& graph, const char* what);

}  // namespace weft::goal
