// The file that says which ranks a Chakra trace's communicator groups have.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// {"name": [ranks, …], …}, as ASTRA-sim reads it. Throws InputError for anything else, and for ranks that are
// not below `ranks` or stand in a group twice.
std::map<std::string, std::vector<Rank>> read_comm_groups(const std::string& path, Rank ranks);

}  // namespace weft::goal
