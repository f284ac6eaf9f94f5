// The file formats a user's own network can be read from. README.md says what each holds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/import/imported_graph.h"

namespace weft::topologies {

// Each takes the whole text of a file and its path, and throws InputError at file and line with what was
// found and what was expected. `ignored` are names of attributes and columns to leave unread. Whether the
// graph is a network is for build_network() to tell.

// GraphML, http://graphml.graphdrawing.org/specification.html: one undirected graph, without hyperedges and
// nested graphs.
ImportedGraph read_graphml(std::string_view text, const std::string& file,
                           const std::vector<std::string>& ignored);
// One link a line: from to [rate [latency [loss]]], or a table whose heading names its columns.
ImportedGraph read_edges(std::string_view text, const std::string& file,
                         const std::vector<std::string>& ignored);
// EvalNet's: the numbers of routers and of links, then for each router, from 0, a line with its neighbours.
ImportedGraph read_adjacency(std::string_view text, const std::string& file,
                             const std::vector<std::string>& ignored);
// htsim's fat tree files, as sim/datacenter/fat_tree_topology.cpp of Broadcom/csg-htsim reads and wires them.
ImportedGraph read_topo(std::string_view text, const std::string& file,
                        const std::vector<std::string>& ignored);

struct ImportFormat {
  std::string name;  // as users write it: "graphml"
  ImportedGraph (*read)(std::string_view text, const std::string& file,
                        const std::vector<std::string>& ignored);
};

// In the order of the documentation.
std::span<const ImportFormat> import_formats();
// The format by the name of the file and what its text begins with. Throws InputError for files that are
// known to be of another kind.
const ImportFormat& detect_format(std::string_view text, const std::string& file);

// All of a file. Throws InputError if it can't be read, is a folder, or is empty.
std::string read_whole_file(const std::string& path);

}  // namespace weft::topologies
