// Traces of MPI programs: the files of up to four ranks, one behind the other.
#include <string>

#include "goal/import/mpi/importer.h"
#include "goal/import/mpi/trace_summary.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/trace_files.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::TraceFolders folders("rank-00000");
  const std::string folder = folders.fill(fuzz::text_of(data, size));
  if (folder.empty()) return 0;
  (void)fuzz::attempt([&] { return goal::summarize_traces(folder); });
  const goal::MpiImportOptions options{.keep_wildcards = size % 2 == 0, .partial = true};
  goal::PackInfo info;
  const auto graph = fuzz::attempt([&] { return goal::import_mpi(folder, options, &info); });
  if (graph) fuzz::check_graph(*graph, info);
  return 0;
}
