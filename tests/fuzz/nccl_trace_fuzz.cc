// Traces of programs that use NCCL: the files of up to four processes, one behind the other.
#include <string>

#include "goal/import/nccl/importer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/trace_files.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::TraceFolders folders("nccl-node-");
  const std::string folder = folders.fill(fuzz::text_of(data, size));
  if (folder.empty()) return 0;
  const goal::NcclImportOptions options{.partial = true, .ignore_choices = size % 2 == 0};
  goal::PackInfo info;
  const auto graph = fuzz::attempt([&] { return goal::import_nccl(folder, options, &info); });
  if (graph) fuzz::check_graph(*graph, info);
  return 0;
}
