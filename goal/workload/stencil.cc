#include "goal/workload/stencil.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kMostStencilDimensions = 6;

// One of the up to 3^d - 1 neighbours.
struct Direction {
  std::vector<int> offset;  // -1, 0 or 1 in every dimension
  std::uint32_t tag = 0, opposite_tag = 0;
  std::uint64_t bytes = 0;
};

// Whom a rank exchanges with, in the order of the directions.
using Neighbors = std::vector<std::pair<Rank, const Direction*>>;

// All messages at once.
void exchange_messages(const Neighbors& neighbors, Phases& phases) {
  // What comes from a neighbour was sent in the opposite direction.
  for (const auto& [rank, direction] : neighbors)
    phases.recv(direction->bytes, rank, direction->opposite_tag);
  for (const auto& [rank, direction] : neighbors) phases.send(direction->bytes, rank, direction->tag);
}

// Makes the exchange one operation. Several messages between the same two ranks are told apart by their
// order: the directions in which they are sent are, in reverse order, those from which they come, and mirror
// images of each other in dimensions of one or two ranks. So the k-th has the same size at both ends.
Collective neighbor_exchange(const Neighbors& neighbors) {
  Collective exchange{.kind = CollectiveKind::kNeighborAlltoall, .v_form = true};
  for (const auto& [rank, direction] : neighbors) {
    exchange.destinations.push_back(rank);
    exchange.counts.push_back(direction->bytes);
  }
  exchange.sources = exchange.destinations;
  exchange.receive_counts = exchange.counts;
  return exchange;
}

bool uses_messages(const Parameters& parameters) { return parameters.text("exchange") == "messages"; }

// In how many coordinates a neighbour may differ.
std::uint32_t most_steps(const Parameters& parameters, std::uint32_t dimensions) {
  const std::string& neighbors = parameters.text("neighbors");
  if (neighbors == "faces") return 1;
  return neighbors == "edges" ? 2 : dimensions;
}

// The cells of a rank in every dimension.
std::vector<std::uint32_t> cells_of(const Parameters& parameters, std::size_t dimensions) {
  std::vector<std::uint32_t> cells = numbers_of(parameters, "cells");
  if (cells.size() == 1) cells.resize(dimensions, cells[0]);
  if (cells.size() != dimensions) {
    parameters.fail("cells", fmt::format("it must be one number, or {}, as the grid has", dimensions));
  }
  return cells;
}

// What goes to the neighbour at `offset`: `halo` cells deep where it moves, all cells where it doesn't.
std::uint64_t bytes_to(const Parameters& parameters, const std::vector<int>& offset,
                       const std::vector<std::uint32_t>& cells, std::uint32_t halo) {
  std::uint64_t bytes = parameters.bytes("cell");
  for (std::size_t d = 0; d < offset.size(); ++d) {
    if (__builtin_mul_overflow(bytes, offset[d] == 0 ? cells[d] : halo, &bytes)) {
      parameters.fail("cells", "a message would have more than 2^64 bytes");
    }
  }
  return bytes;
}

std::vector<Direction> directions(const Parameters& parameters, std::uint32_t dimensions) {
  const std::uint32_t steps = most_steps(parameters, dimensions);
  const std::vector<std::uint32_t> cells = cells_of(parameters, dimensions);
  const std::uint32_t halo = integer_in(parameters, "halo", 1, *std::min_element(cells.begin(), cells.end()));
  std::uint32_t all = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) all *= 3;
  std::vector<Direction> found;
  for (std::uint32_t code = 0; code < all; ++code) {
    // The digits of the code to base 3 are the offsets + 1, so that the opposite direction has code all - 1 -
    // code.
    Direction direction{std::vector<int>(dimensions), code, all - 1 - code};
    std::uint32_t moves = 0;
    for (std::uint32_t d = dimensions, rest = code; d-- > 0; rest /= 3) {
      direction.offset[d] = static_cast<int>(rest % 3) - 1;
      moves += direction.offset[d] != 0;
    }
    if (moves == 0 || moves > steps) continue;
    direction.bytes = bytes_to(parameters, direction.offset, cells, halo);
    found.push_back(std::move(direction));
  }
  return found;
}

Graph generate_stencil(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  const Grid grid = grid_of(parameters, ranks, 1, kMostStencilDimensions);
  const std::vector<Direction> all = directions(parameters, static_cast<std::uint32_t>(grid.dims.size()));
  const bool periodic = parameters.boolean("periodic");
  const Repetition repeat = repetition(parameters);
  const ConvergenceTest test(parameters);
  const bool messages = uses_messages(parameters);
  Neighbors neighbors;
  return phased_graph(parameters, ranks, [&](Rank r, Phases& phases) {
    neighbors.clear();
    const std::vector<std::uint32_t> at = grid.coordinates(r);
    for (const Direction& direction : all) {
      const auto neighbor = grid.neighbor(at, direction.offset, periodic);
      // Around a dimension of 1, a rank copies its own cells.
      if (neighbor.has_value() && *neighbor != r) neighbors.emplace_back(*neighbor, &direction);
    }
    const Collective exchange = messages ? Collective() : neighbor_exchange(neighbors);
    phases.repeat(repeat, [&](std::uint32_t iteration) {
      if (messages) {
        exchange_messages(neighbors, phases);
      } else {
        phases.collective(exchange);
      }
      phases.then();
      test.add_to(phases, iteration);
    });
  });
}

}  // namespace

Workload stencil_workload() {
  std::vector<ParameterSpec> parameters = {
      dims_parameter("3d"),
      {"periodic", ParameterType::kBoolean, "true", "Whether the ends of every dimension meet."},
      {"neighbors", ParameterType::kText, "faces",
       "Who exchanges: faces (5-point stencil in 2-D, 7-point in 3-D), edges (19-point in 3-D) or corners "
       "(9-point "
       "in 2-D, 27-point in 3-D) as well.",
       one_of({"faces", "edges", "corners"})},
      {"exchange", ParameterType::kText, "messages",
       "By messages, all at once, or by one collective operation (neighbor_alltoall).",
       one_of({"messages", "collective"})},
      {"cells", ParameterType::kText, "64", "Cells of a rank in every dimension: 64, or 64x64x32."},
      {"cell", ParameterType::kBytes, "8B", "Bytes of a cell."},
      {"halo", ParameterType::kInteger, "1",
       "Depth of what is exchanged, in cells; at most the cells of a rank.", at_least("1")},
      iterations_parameter(),
      compute_parameter(),
  };
  for (ParameterSpec& spec : ConvergenceTest::parameters()) parameters.push_back(std::move(spec));
  parameters.push_back(ranks_parameter());
  return {
      {"stencil",
       "Ranks in a grid exchange the cells at their borders with their neighbours, all at once, and compute.",
       "D. Bailey et al., The NAS Parallel Benchmarks, 1991 (MG); W. Gropp, E. Lusk, A. Skjellum, Using MPI, "
       "3rd "
       "edition, 2014, chapter 4",
       std::move(parameters)},
      generate_stencil};
}

}  // namespace weft::goal
