// Opens a GOAL graph in any of its formats, by what the file holds and not by its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"
#include "goal/pack/pack.h"

namespace weft::goal {

// Reads text, binary GOAL or a packed file. Fills *info, if given, with what a packed file holds beside the
// graph (nothing for the other two). Throws InputError if the file is missing, of another kind, or wrong
// within.
Graph read_graph(const std::string& path, PackInfo* info = nullptr);
// Reads the bytes of a file; `path` is for messages only.
Graph parse_graph(std::string_view bytes, const std::string& path, PackInfo* info = nullptr);

// The ranks of a graph of any format, to be gone through one at a time: of a packed file (version 2) one is
// in memory at a time, others are read whole. Throws as read_graph; damage to a rank shows when it is read.
std::unique_ptr<RankSource> open_ranks(const std::string& path, PackInfo* info = nullptr);

}  // namespace weft::goal
