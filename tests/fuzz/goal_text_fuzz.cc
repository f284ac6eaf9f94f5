// GOAL text.
#include "goal/text/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = fuzz::attempt([&] { return goal::parse_text(fuzz::text_of(data, size), "in.goal"); });
  if (graph) fuzz::check_graph(*graph);
  return 0;
}
