// AICB's tables of communications.
#include "goal/import/aicb/steps.h"
#include "goal/import/aicb/trace.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = fuzz::attempt([&] { return goal::parse_aicb(fuzz::text_of(data, size), "in.csv"); });
  if (!trace) return 0;
  std::vector<goal::Anomaly> anomalies;
  // What a file asks for is many ranks.
  goal::AicbOptions options{.ranks = 8};
  const auto graph = fuzz::attempt([&] { return goal::aicb_graph(*trace, options, "in.csv", anomalies); });
  if (graph) fuzz::check_graph(*graph);
  return 0;
}
