// How long each measure of `weft topo analyze` takes.
//   analysis_bench TOPOLOGY...
// Prints for each network its routers and links, then a line for each measure with its seconds by the clock.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "topologies/analysis/analyze.h"
#include "topologies/families.h"

int main(int argc, char** argv) {
  using weft::topologies::AnalysisOptions;
  using Clock = std::chrono::steady_clock;
  for (int i = 1; i < argc; ++i) {
    const auto network = weft::topologies::build(weft::parse_module_choice(argv[i]));
    for (const std::string& measure : weft::topologies::measures()) {
      AnalysisOptions options;
      options.only = {measure};
      const auto start = Clock::now();
      const auto analysis = weft::topologies::analyze(network, options);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (measure == weft::topologies::measures().front()) {
        fmt::print("{}: {} routers, {} links\n", analysis.topology, analysis.routers, analysis.links);
      }
      fmt::print("  {:<15} {:6.2f} s{}\n", measure, seconds,
                 analysis.left_out.contains(measure) ? " (left out)" : "");
      std::fflush(stdout);
    }
  }
}
