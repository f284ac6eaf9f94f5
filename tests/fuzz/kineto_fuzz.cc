// Profiles of PyTorch's profiler: one rank's file, the others alike; and that file as an execution trace.
#include "goal/import/kineto/importer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  const std::string_view text = fuzz::text_of(data, size);
  // Millions of ranks may be asked for by right: by the world, a rank or a group.
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
    if (digits == 5) return 0;
  }
  file.fill(text);
  for (const bool joined : {false, true}) {
    goal::KinetoOptions options{.alike = true};
    if (joined) options.execution_traces = file.path();
    goal::PackInfo info;
    const auto graph = fuzz::attempt([&] { return goal::import_kineto(file.path(), options, &info); });
    if (graph && graph->ranks() <= 64) fuzz::check_graph(*graph, info);
  }
  return 0;
}
