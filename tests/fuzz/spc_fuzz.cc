// Block I/O traces of the Storage Performance Council.
#include "goal/import/spc/storage_graph.h"
#include "goal/import/spc/trace.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = fuzz::attempt([&] { return goal::parse_spc(fuzz::text_of(data, size), "in.spc"); });
  if (!trace) return 0;
  goal::StorageSystem system;
  system.servers = 3;
  system.stripe = 1u << 26;  // with smaller ones, an I/O of a gigabyte is many thousand requests
  system.closed_loop = size % 2 == 0;
  const auto made = fuzz::attempt([&] { return goal::storage_graph(trace->ios, system); });
  if (made) fuzz::check_graph(made->graph);
  return 0;
}
