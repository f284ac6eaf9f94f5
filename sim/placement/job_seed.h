// What the placements of several jobs draw from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/units/random.h"

namespace weft::placement {

// The seed of a job's placement (Request::seed), by its place in the order of jobs.
inline std::uint64_t seed_of_job(std::uint64_t seed, std::size_t job) {
  return job == 0 ? seed : mix64(seed + job);
}

}  // namespace weft::placement
