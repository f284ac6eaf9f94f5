#include "tools/export/run_database.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "sim/units/input_error.h"
#include "sim/units/used_files.h"

namespace weft::tools {
namespace {

std::string file_of(const std::string& run) {
  std::error_code error;
  std::string path = std::filesystem::is_directory(run, error) ? run + "/results.sqlite" : run;
  if (std::filesystem::exists(path, error)) return path;
  throw InputError(
      fmt::format("{}: there is no such file; weft sim … -o RUN leaves results.sqlite in RUN, unless "
                  "output.sqlite is false or the run failed",
                  path));
}

// What a run left is one whole: without its summary it counts as a run that didn't end. So whoever reads a
// part of it may write none of it, though pages and exports that lie there too may be written again.
void keep_whole(const std::filesystem::path& folder) {
  for (const char* name :
       {"summary.json", "scenario.txtpb", "flows.csv", "hosts.csv", "jobs.csv", "links.csv", "ranks.csv"}) {
    const std::string path = folder / name;
    struct stat status {};
    if (stat(path.c_str(), &status) == 0) note_input(path, status);
  }
}

}  // namespace

RunDatabase::RunDatabase(const std::string& run)
    : ForeignDatabase(file_of(run), "the results of a run", Schema::kPlainTables) {
  keep_whole(std::filesystem::path(file_of(run)).parent_path());
}

}  // namespace weft::tools
