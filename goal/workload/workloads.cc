#include "goal/workload/alltoall.h"
#include "goal/workload/connections.h"
#include "goal/workload/fan.h"
#include "goal/workload/index_patterns.h"
#include "goal/workload/permutation.h"
#include "goal/workload/poisson.h"
#include "goal/workload/random_pairs.h"
#include "goal/workload/workload.h"

namespace weft::goal {

std::span<const Workload> workloads() {
  static const Workload kAll[] = {
      permutation_workload(),    random_workload(),      shift_workload(),     tornado_workload(),
      bit_complement_workload(), bit_reverse_workload(), transpose_workload(), incast_workload(),
      outcast_workload(),        alltoall_workload(),    poisson_workload(),   connections_workload(),
  };
  return kAll;
}

}  // namespace weft::goal
