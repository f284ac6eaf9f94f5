// The seam for importers: what an entry says of a trace format.
#pragma once

#include <filesystem>
#include <string>

#include "goal/graph/graph.h"
#include "goal/pack/pack.h"
#include "sim/units/module.h"

namespace weft::goal {

// An importer: an entry of the list in importers.cc. Its parameters are options of `weft import`: `poll_gap`
// is --poll-gap there, and a boolean, which must be false by default, a flag.
struct Importer {
  ModuleInfo info;
  std::string looks_like;  // what sniff() looks for, for people: "a folder with files rank-*.wtrc"
  std::string span;  // what the metadata traced_elapsed_ns is the time of: "from MPI_Init to MPI_Finalize"
  // Is this the format? Looks at names and first bytes only, and is false for what can't be read.
  bool (*sniff)(const std::filesystem::path& path);
  // `info` gets metadata of the run and counters of all that was dropped or assumed. Throws InputError for
  // what isn't that format or makes no sense.
  Graph (*import)(const std::filesystem::path& path, const Parameters& parameters, PackInfo& info);
};

}  // namespace weft::goal
