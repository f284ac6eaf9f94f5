// The seam for importers: what an entry says of a trace format.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/pack.h"
#include "sim/units/module.h"

namespace weft::goal {

// Where a trace is: a file or a folder, or, for formats with a file for each rank, several files.
class TracePaths {
 public:
  TracePaths(std::filesystem::path path) : paths_{std::move(path)} {}
  TracePaths(const std::string& path) : paths_{path} {}
  TracePaths(const char* path) : paths_{path} {}
  // REQUIRES: at least one.
  explicit TracePaths(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)) {}

  const std::filesystem::path& first() const { return paths_.front(); }
  const std::vector<std::filesystem::path>& all() const { return paths_; }
  bool several() const { return paths_.size() > 1; }
  std::string text() const { return first().string(); }  // for messages

  // Those files, or those of the one folder that `wanted` takes, in the order of their names.
  template <typename Wanted>
  std::vector<std::filesystem::path> files(const Wanted& wanted) const {
    std::error_code error;
    if (several() || !std::filesystem::is_directory(first(), error)) return paths_;
    std::vector<std::filesystem::path> found;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::directory_iterator(first(), error)) {
      if (entry.is_regular_file(error) && wanted(entry.path())) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::vector<std::filesystem::path> paths_;
};

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
  // Imports several files, one or more of each rank, in the way of `import`; null: the format has no such.
  Graph (*import_several)(const TracePaths& paths, const Parameters& parameters, PackInfo& info) = nullptr;
};

}  // namespace weft::goal
