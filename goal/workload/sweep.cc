#include "goal/workload/sweep.h"

#include <optional>
#include <utility>
#include <vector>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

// The direction of travel of the sweeps from each corner, in the order of Sweep3D: first along the second
// dimension and back, from the low end of the first dimension, then the same from its high end.
constexpr int kCorners[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

Graph generate_sweep(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  const Grid grid = grid_of(parameters, ranks, 2, 2);
  const std::uint64_t bytes = parameters.bytes("size");
  const std::uint32_t blocks = parameters.whole("blocks");
  const std::uint32_t sweeps = parameters.whole("sweeps");
  const Repetition repeat = repetition(parameters);
  const ConvergenceTest test(parameters);
  return phased_graph(parameters, ranks, [&](Rank r, Phases& phases) {
    const std::vector<std::uint32_t> at = grid.coordinates(r);
    phases.repeat({repeat.iterations}, [&](std::uint32_t iteration) {
      for (const auto& [x, y] : kCorners) {
        const auto neighbor = [&](int dx, int dy) {
          const int offset[] = {dx, dy};
          return grid.neighbor(at, offset, false);
        };
        const std::optional<Rank> from[] = {neighbor(-x, 0), neighbor(0, -y)};
        const std::optional<Rank> to[] = {neighbor(x, 0), neighbor(0, y)};
        for (std::uint64_t block = 0; block < std::uint64_t{sweeps} * blocks; ++block) {
          for (const std::optional<Rank>& rank : from) {
            if (rank.has_value()) phases.recv(bytes, *rank);
          }
          phases.then(repeat.compute_ns);
          for (const std::optional<Rank>& rank : to) {
            if (rank.has_value()) phases.send(bytes, *rank);
          }
          phases.then();
        }
      }
      test.add_to(phases, iteration);
    });
  });
}

}  // namespace

Workload sweep_workload() {
  std::vector<ParameterSpec> parameters = {
      dims_parameter("2d"),
      {"blocks", ParameterType::kInteger, "10",
       "Blocks of planes and angles, one after the other, that a sweep is cut into: the length of the "
       "pipeline.",
       from_to("1", "2147483647")},
      {"sweeps", ParameterType::kInteger, "2",
       "Sweeps from each corner before the next has its turn: up and down.", from_to("1", "2147483647")},
      {"size", ParameterType::kBytes, "4KB", "Bytes to each of the two neighbours downstream, for a block."},
      iterations_parameter(),
      compute_parameter("10us", "Compute of a rank for each block."),
  };
  for (ParameterSpec& spec : ConvergenceTest::parameters()) parameters.push_back(std::move(spec));
  parameters.push_back(ranks_parameter());
  return {
      {"sweep",
       "Wavefronts (KBA): block by block, a rank waits for its two upstream neighbours, computes and sends "
       "to the "
       "two downstream, from each corner of the grid in turn.",
       "A. Hoisie, O. Lubeck, H. Wasserman, Performance and Scalability Analysis of Teraflop-Scale Parallel "
       "Architectures Using Multidimensional Wavefront Applications, IJHPCA 2000; K. Koch, R. Baker, R. "
       "Alcouffe "
       "(KBA), 1992",
       std::move(parameters)},
      generate_sweep};
}

}  // namespace weft::goal
