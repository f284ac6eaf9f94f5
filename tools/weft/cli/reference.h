// The reference: one HTML page of all modules with their parameters, limits and sources, and of all commands
// with their options. Made of the lists that `weft describe` and the help are made of.
#pragma once

#include <string>

#include "tools/weft/cli/catalog.h"
#include "tools/weft/cli/command_tree.h"

namespace weft::cli {

// Needs no other file and no network. Anchors: "topology.fat_tree", "collective.allreduce.ring",
// "weft-goal-gen".
std::string reference_page(const Catalog& catalog, const CommandEntry& tree);

}  // namespace weft::cli
