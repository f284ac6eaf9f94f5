// Binary GOAL, the format of LogGOPSim's and ATLAHS' txt2bin (their `.bin` files). README.md of this folder
// gives the layout. It holds sends, receives and calcs only.
#pragma once

#include <string>
#include <string_view>

#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"

namespace weft::goal {

// The first eight bytes of such a file, read as a little-endian number.
inline constexpr std::uint64_t kBinaryMagic = 4223;
// A file begins with this instead once a simulator run with --save-mem has overwritten its dependency counts.
inline constexpr std::uint64_t kBinaryMagicSpent = 2342;

// Reads a whole file. Everything the simulators rely on is checked (offsets, root lists, dependency counts,
// successors, peers); what is wrong is an InputError with the byte offset. `file_name` is for messages only.
// In the dependents of an operation all `requires` come before all `irequires`: the format keeps them apart.
Graph parse_binary(std::string_view bytes, const std::string& file_name);

// Throws InputError that names rank and operation if the format can't hold the graph: collectives, messages
// within a communicator, synchronous sends, a cpu above 255.
std::string to_binary(const Graph& graph);
void write_binary_file(const Graph& graph, const std::string& path);
void write_binary_file(RankSource& graph, const std::string& path);

}  // namespace weft::goal
