// Writes a GOAL graph in the format that its file's name asks for.
#pragma once

#include <string>
#include <string_view>

#include "goal/graph/graph.h"
#include "goal/pack/pack.h"

namespace weft::goal {

enum class Format { kText, kBinary, kPack, kChakra };

// "text", "binary", "pack" or "chakra"; throws InputError for any other word.
Format format_of_name(std::string_view name);
// By the ending: .goal text, .bin binary, .weft packed, .et Chakra (a file per rank, X.et gives X.0.et …);
// throws InputError for any other.
Format format_of_path(const std::string& path);

// Only the packed format keeps `info`. Throws InputError if the format can't hold the graph or the file can't
// be written.
void write_graph(const Graph& graph, const PackInfo& info, const std::string& path, Format format);
// Writes ranks that are in memory one at a time. The file may be the one that they are read from.
void write_graph(RankSource& graph, const PackInfo& info, const std::string& path, Format format);

}  // namespace weft::goal
