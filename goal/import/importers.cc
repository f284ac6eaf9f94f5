#include "goal/import/importers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "goal/import/aicb/importer.h"
#include "goal/import/chakra/importer.h"
#include "goal/import/connections/importer.h"
#include "goal/import/dumpi/importer.h"
#include "goal/import/flight_recorder/importer.h"
#include "goal/import/goal/importer.h"
#include "goal/import/kineto/importer.h"
#include "goal/import/liballprof/importer.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/nccl/importer.h"
#include "goal/import/nsys/importer.h"
#include "goal/import/otf2/importer.h"
#include "goal/import/simai/importer.h"
#include "goal/import/spc/importer.h"
#include "sim/units/input_error.h"

namespace weft::goal {

std::span<const Importer> importers() {
  static const Importer all[] = {
      mpi_importer(),         nccl_importer(),       kineto_importer(),
      chakra_importer(),      liballprof_importer(), otf2_importer(),
      dumpi_importer(),       nsys_importer(),       flight_recorder_importer(),
      connections_importer(), spc_importer(),        simai_importer(),
      aicb_importer(),        goal_importer(),
  };
  return all;
}

namespace {

namespace fs = std::filesystem;

// Does this file, or one of the first in this folder, look like what NCCL prints with NCCL_DEBUG?
bool is_nccl_log(const fs::path& path) {
  constexpr int kMostFiles = 64;
  constexpr std::size_t kBegin = 65536;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    int seen = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
      if (seen++ == kMostFiles) break;
      if (entry.is_regular_file(error) && is_nccl_log(entry.path())) return true;
    }
    return false;
  }
  std::string begin(kBegin, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), kBegin);
  return std::string_view(begin).substr(0, static_cast<std::size_t>(file.gcount())).find(" NCCL INFO ") !=
         std::string_view::npos;
}

}  // namespace

const Importer& sniff_importer(std::span<const Importer> among, const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError(path.string() + ": there is no such file or folder");
  }
  std::vector<const Importer*> found;
  std::vector<std::string> names, wanted;
  for (const Importer& importer : among) {
    wanted.push_back(fmt::format("{} ({})", importer.looks_like, importer.info.name));
    if (!importer.sniff(path)) continue;
    found.push_back(&importer);
    names.push_back(importer.info.name);
  }
  if (found.empty() && is_nccl_log(path)) {
    throw InputError(
        path.string() +
        ": what NCCL prints with NCCL_DEBUG lacks the times that a graph needs; run the program under "
        "'weft trace', or with PyTorch's or Nsight Systems' profiler");
  }
  if (found.empty()) {
    throw InputError(
        fmt::format("{}: no importer knows this; looked for: {}", path.string(), fmt::join(wanted, "; ")));
  }
  if (found.size() > 1) {
    throw InputError(fmt::format("{}: this may be of several formats: {}; name one, like weft import {} {}",
                                 path.string(), fmt::join(names, ", "), names[0], path.string()));
  }
  return *found[0];
}

}  // namespace weft::goal
