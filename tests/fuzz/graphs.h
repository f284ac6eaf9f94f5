// What holds for every GOAL graph that a reader has made of a file.
#pragma once

#include "goal/graph/graph.h"
#include "goal/pack/info.h"

namespace weft::fuzz {

// Packed files hold collectives that the text can't say (a barrier with elements), whose text may be refused.
enum class TextForm { kRequired, kMayBeRefused };

// The graph comes back from each format as it went in, and what the check says of it is fit to print. Throws
// Finding.
void check_graph(const goal::Graph& graph, const goal::PackInfo& info = {},
                 TextForm form = TextForm::kRequired);

}  // namespace weft::fuzz
