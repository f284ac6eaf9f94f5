// Workload files of SimAI and ASTRA-sim 1.0.
#include "goal/import/simai/steps.h"
#include "goal/import/simai/workload_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto workload = fuzz::attempt([&] { return goal::parse_simai(fuzz::text_of(data, size), "in.txt"); });
  if (!workload) return 0;
  std::vector<goal::Anomaly> anomalies;
  // What a file asks for is many ranks; and recomputation may go through all layers for each.
  const goal::SimaiOptions options{.ranks = 8, .passes = 2, .first_dimension = 2};
  if (workload->layers.size() > 100) return 0;
  const auto graph =
      fuzz::attempt([&] { return goal::simai_graph(*workload, options, "in.txt", anomalies); });
  if (graph) fuzz::check_graph(*graph);
  return 0;
}
