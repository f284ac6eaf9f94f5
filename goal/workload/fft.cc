#include "goal/workload/fft.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>
#include <vector>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kMostPoints = 1u << 20;  // so that no size passes 2^64

// An alltoall among the ranks of one row or column: one communicator for each of them.
struct Transposition {
  std::vector<std::uint32_t> comms;  // empty: each has one rank, and nothing moves
  std::uint64_t block_bytes = 0;
};

std::uint32_t points_of(const Parameters& parameters, const Grid& grid) {
  const std::uint32_t points = parameters.whole("points");
  const std::uint64_t multiple = std::lcm<std::uint64_t>(grid.dims[0], grid.dims[1]);
  if (points % multiple != 0) {
    const std::uint64_t below = points / multiple * multiple, above = below + multiple;
    parameters.fail(
        "points", fmt::format("the {} x {} grid of ranks needs a multiple of {}: {}{} would do", grid.dims[0],
                              grid.dims[1], multiple, below > 0 ? fmt::format("{} or ", below) : "", above));
  }
  return points;
}

Graph generate_fft(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  const Grid grid = grid_of(parameters, ranks, 2, 2);
  const std::uint64_t rows = grid.dims[0], columns = grid.dims[1];
  const std::uint64_t points = points_of(parameters, grid);
  const std::uint64_t point_bytes = parameters.bytes("point");
  const Repetition repeat = repetition(parameters);

  GraphBuilder builder;
  // The communicator of `count` ranks from `first` on, `step` apart.
  const auto communicator = [&](const char* what, std::uint64_t number, std::uint64_t first,
                                std::uint64_t step, std::uint64_t count) {
    if (count == ranks) return kWorld;
    Communicator made{fmt::format("{} {}", what, number), {}};
    for (std::uint64_t i = 0; i < count; ++i) made.ranks.push_back(static_cast<Rank>(first + i * step));
    return builder.add_communicator(std::move(made));
  };
  // A rank's pencil has points · points/rows · points/columns. Of that, it keeps and sends to each of the
  // others an equal part.
  const std::uint64_t pencil_bytes = points * (points / rows) * (points / columns) * point_bytes;
  Transposition in_row{{}, pencil_bytes / columns}, in_column{{}, pencil_bytes / rows};
  for (std::uint64_t i = 0; columns > 1 && i < rows; ++i) {
    in_row.comms.push_back(communicator("row", i, i * columns, 1, columns));
  }
  for (std::uint64_t i = 0; rows > 1 && i < columns; ++i) {
    in_column.comms.push_back(communicator("column", i, i, columns, rows));
  }
  return phased_graph(
      parameters, ranks,
      [&](Rank r, Phases& phases) {
        const auto transpose = [&](const Transposition& transposition, std::uint64_t number) {
          if (transposition.comms.empty()) return;
          phases.collective({.kind = CollectiveKind::kAlltoall,
                             .comm = transposition.comms[number],
                             .bytes = transposition.block_bytes});
          phases.then();
        };
        phases.repeat(repeat, [&](std::uint32_t) {
          transpose(in_row, r / columns);
          phases.then(repeat.compute_ns);
          transpose(in_column, r % columns);
          phases.then(repeat.compute_ns);
        });
      },
      std::move(builder));
}

}  // namespace

Workload fft_workload() {
  return {
      {"fft",
       "A three-dimensional FFT in pencils: alltoall within each row of a grid of ranks, then within each "
       "column.",
       "D. Bailey et al., The NAS Parallel Benchmarks, 1991 (FT); J. Cooley, J. Tukey, Math. Comp. 19, 1965; "
       "D. Takahashi, PPAM 2009 (pencils)",
       {dims_parameter("2d"),
        {"points", ParameterType::kInteger, "512",
         "Points in each of the three dimensions: a multiple of both sides of the grid.",
         from_to("1", std::to_string(kMostPoints))},
        {"point", ParameterType::kBytes, "16B", "Bytes of a point: 16B is a complex double.",
         from_to("1B", "16B")},
        iterations_parameter(),
        compute_parameter("0ns",
                          "Compute of a rank for its one-dimensional FFTs in one direction, three times an "
                          "iteration: before, between and after the two exchanges."),
        ranks_parameter()}},
      generate_fft};
}

}  // namespace weft::goal
