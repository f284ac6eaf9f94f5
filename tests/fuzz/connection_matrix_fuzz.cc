// htsim's connection matrices.
#include "goal/workload/connection_matrix.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Idle ranks take memory too.
  constexpr std::uint32_t kMostRanks = 1024;
  const auto matrix =
      fuzz::attempt([&] { return goal::parse_connection_matrix(fuzz::text_of(data, size), "in.cm"); });
  if (!matrix || matrix->nodes > kMostRanks) return 0;
  const auto made = fuzz::attempt([&] { return goal::connection_graph(*matrix, matrix->nodes); });
  if (made) fuzz::check_graph(made->graph);
  return 0;
}
