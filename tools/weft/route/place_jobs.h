// The jobs and the machine of `weft place`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/placement/placement.h"
#include "sim/units/module.h"

namespace weft::cli {

// A job to place, as the command line has it.
struct PlacedJob {
  std::string name;        // the file's or pattern's, for people
  ModuleChoice placement;  // empty: whatever is compared
  std::uint32_t ranks = 0, ranks_per_node = 1;
  std::vector<placement::Exchange> exchanges;
};

// What one job is made from: a graph, a traffic pattern, a matrix, or ranks alone.
struct JobSource {
  std::string graph, traffic, matrix;
  std::uint32_t ranks = 0, ranks_per_node = 1;  // ranks 0: those of the graph or matrix
  ModuleChoice placement;
};
// Reads "lj.weft,placement=[submesh:shape=4x4],ranks_per_node=4", or "traffic=halo…,ranks=64" as --job has
// it. Throws InputError that shows the form.
JobSource parse_job(const std::string& text, std::uint32_t ranks_per_node);
// Collectives are spelled out by default rules, so that what they send counts. Throws InputError.
PlacedJob read_job(const JobSource& source, std::uint64_t seed);

}  // namespace weft::cli
