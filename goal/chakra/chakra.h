// Chakra execution traces, the format of MLCommons that ASTRA-sim and its kin read; README.md of this folder
// says what stands for what. Reading: goal/import/chakra.
#pragma once

#include <string>

#include "goal/graph/rank_source.h"

namespace weft::goal {

// The file of a rank, and that of the groups: "x.et" gives "x.3.et" and "x.comm_group.json".
std::string chakra_rank_file(const std::string& path, Rank rank);
std::string chakra_group_file(const std::string& path);

// Writes one file per rank and, if there are communicators, the file of groups. Throws InputError that names
// rank and operation for what the format has no word for: receives from any source, scans, collectives
// between neighbors, tags above 2^31 - 1; and if a file can't be written.
void write_chakra_files(RankSource& graph, const std::string& path);

}  // namespace weft::goal
