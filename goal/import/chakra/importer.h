// Chakra execution traces to GOAL.
#pragma once

#include "goal/import/chakra/rank_builder.h"
#include "goal/import/importer.h"

namespace weft::goal {

struct ChakraOptions {
  Rank ranks = 0;  // 0: as many as there are files; more: the others do what rank modulo files does
  ChakraReckoning reckoning = {};  // of compute nodes that have a number of operations and no time
  ChakraDeps deps = ChakraDeps::kAuto;
  // File of communicator groups; empty: *comm_group*.json in the folder, or NAME.json beside NAME.RANK.et.
  std::string groups;
};

// `paths`: a folder with NAME.RANK.et (or NAME.RANK.json, plain or gzip) of one trace, or with files of other
// names in the order of the ranks; or one or several such files. Throws InputError, with node ids for what is
// wrong between nodes.
Graph import_chakra(const TracePaths& paths, const ChakraOptions& options, PackInfo* info);

Importer chakra_importer();

}  // namespace weft::goal
