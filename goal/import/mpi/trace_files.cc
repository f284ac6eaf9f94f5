#include "goal/import/mpi/trace_files.h"

#include <algorithm>
#include <string>
#include <system_error>

namespace weft::goal {

namespace fs = std::filesystem;

std::vector<fs::path> trace_files(const fs::path& directory, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".wtrc")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace weft::goal
