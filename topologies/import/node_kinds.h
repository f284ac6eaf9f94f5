// Which nodes of a file are hosts, where the file doesn't say.
#pragma once

#include <string>
#include <string_view>

#include "topologies/import/imported_graph.h"

namespace weft::topologies {

// Gives every node a kind, and numbers the nodes (FORMATS.md, "What the file leaves open"). What that took is
// noted in the graph, unless it follows from the file or from `pattern`, a shell's pattern that the names of
// all hosts match; "": none given. Returns the number of hosts. Throws InputError without a place if the
// pattern matches no node.
std::uint32_t find_kinds(ImportedGraph& graph, const std::string& pattern);

// Words that names of hosts and of switches are made of, in small letters: "node", "leaf".
bool is_host_word(std::string_view word);
bool is_switch_word(std::string_view word);

}  // namespace weft::topologies
