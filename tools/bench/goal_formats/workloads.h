// The programs whose graphs are measured.
#pragma once

#include <cstdint>
#include <span>

#include "goal/graph/graph.h"

namespace weft::goal::bench {

struct Workload {
  const char* name;
  const char* what;
  Graph (*make)(std::uint64_t ops);  // a graph of about as many operations
};
std::span<const Workload> workloads();

}  // namespace weft::goal::bench
