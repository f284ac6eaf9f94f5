// What holds for every GOAL graph that a reader has made of a file.
#pragma once

#include "goal/graph/graph.h"
#include "goal/pack/info.h"

namespace weft::fuzz {

// The graph comes back from each format as it went in, and what the check says of it is fit to print. Throws
// Finding.
void check_graph(const goal::Graph& graph, const goal::PackInfo& info = {});

}  // namespace weft::fuzz
