#include "goal/import/mpi/trace_files.h"

#include <string>

#include "sim/units/input_file.h"

namespace weft::goal {

namespace fs = std::filesystem;

std::vector<fs::path> trace_files(const fs::path& directory, std::string_view prefix) {
  std::vector<fs::path> found;
  for (const fs::path& path : folder_entries(directory)) {
    const std::string name = path.filename().string();
    if (name.starts_with(prefix) && name.ends_with(".wtrc")) found.push_back(path);
  }
  return found;
}

}  // namespace weft::goal
