// The compact GOAL format of Weft (.weft files): columns in Protocol Buffers, compressed with zstd rank by
// rank. README.md of this folder specifies it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"

namespace weft::goal {

// What is stored beside the graph.
struct PackInfo {
  std::map<std::string, std::string> metadata;  // "application", "command", "source", …
  std::vector<Anomaly> anomalies;               // what happened while the graph was made
  bool operator==(const PackInfo&) const = default;
};

// Reads a packed graph; fills *info if it is given. A file that is cut short or damaged is an InputError that
// names the rank and the byte. `file_name` is for messages only.
Graph parse_pack(std::string_view bytes, const std::string& file_name, PackInfo* info = nullptr);
Graph read_pack_file(const std::string& path, PackInfo* info = nullptr);

// The same graph and info give the same bytes (with one version of zstd). Throws InputError if the file can't
// be written.
std::string to_pack(const Graph& graph, const PackInfo& info);
void write_pack_file(const Graph& graph, const PackInfo& info, const std::string& path);

}  // namespace weft::goal
