// Communication matrices for analyses.
#include <cmath>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "topologies/analysis/demands.h"
#include "topologies/families.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topologies::RouterGraph graph =
      topologies::router_graph(topologies::build(parse_module_choice("fat_tree:k=4")));
  static fuzz::MemoryFile file;
  file.fill(fuzz::text_of(data, size));
  const auto matrix = fuzz::attempt([&] { return topologies::read_matrix(file.path()); });
  if (!matrix) return 0;
  const auto demands = fuzz::attempt([&] { return topologies::matrix_demands(graph, "matrix", *matrix); });
  if (!demands) return 0;
  std::vector<topologies::Demands::Entry> entries;
  for (std::uint32_t terminal = 0; terminal < demands->terminals(); ++terminal) {
    demands->from(terminal, entries);
    for (const topologies::Demands::Entry& entry : entries) {
      fuzz::require(std::isfinite(entry.rate) && entry.rate >= 0, "a demand that is no rate");
    }
  }
  return 0;
}
