// The compact GOAL format of Weft (.weft files): repetition over time and over ranks is stored once, times
// that vary in columns, all of it in Protocol Buffers compressed with zstd. FORMAT.md of this folder
// specifies it. packed_file.h reads one in bounded memory.
#pragma once

#include <string>
#include <string_view>

#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"
#include "goal/pack/info.h"

namespace weft::goal {

// Reads a packed graph of any version; fills *info if it is given. A file that is cut short or damaged is an
// InputError that names the rank and the byte. `file_name` is for messages only.
Graph parse_pack(std::string_view bytes, const std::string& file_name, PackInfo* info = nullptr);
Graph read_pack_file(const std::string& path, PackInfo* info = nullptr);

// Writes version 2. The same graph and info give the same bytes (with one version of zstd). Throws InputError
// if the file can't be written, or the graph names peers or communicators that do not exist.
std::string to_pack(const Graph& graph, const PackInfo& info);
void write_pack_file(const Graph& graph, const PackInfo& info, const std::string& path);
// Writes ranks that are in memory one at a time.
void write_pack_file(RankSource& graph, const PackInfo& info, const std::string& path);

}  // namespace weft::goal
