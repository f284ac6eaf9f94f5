#include "tools/export/run_database.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "sim/units/input_error.h"

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

}  // namespace

RunDatabase::RunDatabase(const std::string& run)
    : ForeignDatabase(file_of(run), "the results of a run", Schema::kPlainTables) {}

}  // namespace weft::tools
