// GOAL text: the form people read and write. The grammar is in README.md of this folder.
//
// Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009, and the files
// that the txt2bin program of LogGOPSim and ATLAHS accepts. Communicators and collectives are our addition.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "goal/graph/graph.h"
#include "goal/graph/rank_source.h"

namespace weft::goal {

// Reads a whole GOAL text. Labels are kept. Throws InputError with line and column: what was found, what was
// expected. `file_name` is for messages only.
Graph parse_text(std::string_view text, const std::string& file_name);
// Reads the text of a file.
Graph read_text_file(const std::string& path);

// Receives the text piece by piece, in order.
using TextSink = std::function<void(std::string_view)>;

// Writes the canonical text of a graph: parse_text() of it gives an equal graph (order of edges included),
// and prints as the same text again. An operation that needs a label but has none, or one that is not a
// unique word, gets "l" and its number counted from 1, with underscores behind it if that is taken.
// REQUIRES: the graph is one that parse_text could have made (peers in range, no root where the kind has
// none, …); of any other the text is still written for people to read, but may be refused.
void print_text(const Graph& graph, const TextSink& sink);
void print_text(RankSource& graph, const TextSink& sink);
std::string to_text(const Graph& graph);
void write_text_file(const Graph& graph, const std::string& path);
void write_text_file(RankSource& graph, const std::string& path);

// One rank's block alone: "rank 3 { … }".
void print_rank(RankSource& graph, Rank rank, const TextSink& sink);

// One operation as in the text, without its label: "send 8b to 1 tag 7". For messages.
std::string op_to_text(const Graph& graph, Rank rank, OpIndex op);
// Returns the text of an operation that is in no graph. REQUIRES: `collective` is given if it is one.
std::string op_to_text(const Op& op, const Collective* collective);

}  // namespace weft::goal
