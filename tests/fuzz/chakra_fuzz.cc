// Chakra execution traces in both forms: one rank's file, for two ranks.
#include "goal/import/chakra/importer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  file.fill(fuzz::text_of(data, size));
  for (const goal::Rank ranks : {1u, 2u}) {
    goal::PackInfo info;
    const auto graph = fuzz::attempt([&] {
      return goal::import_chakra(file.path(), {.ranks = ranks, .reckoning = {.gflops = 1}}, &info);
    });
    if (graph) fuzz::check_graph(*graph, info);
  }
  return 0;
}
