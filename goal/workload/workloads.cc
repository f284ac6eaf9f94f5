#include "goal/workload/alltoall.h"
#include "goal/workload/collective.h"
#include "goal/workload/connections.h"
#include "goal/workload/fan.h"
#include "goal/workload/fft.h"
#include "goal/workload/index_patterns.h"
#include "goal/workload/master_worker.h"
#include "goal/workload/permutation.h"
#include "goal/workload/ping_pong.h"
#include "goal/workload/poisson.h"
#include "goal/workload/random_pairs.h"
#include "goal/workload/sparse.h"
#include "goal/workload/stencil.h"
#include "goal/workload/sweep.h"
#include "goal/workload/workload.h"

namespace weft::goal {

std::span<const Workload> workloads() {
  static const Workload kAll[] = {
      permutation_workload(),    random_workload(),      shift_workload(),         tornado_workload(),
      bit_complement_workload(), bit_reverse_workload(), transpose_workload(),     bisection_workload(),
      incast_workload(),         outcast_workload(),     alltoall_workload(),      poisson_workload(),
      connections_workload(),    ping_pong_workload(),   stencil_workload(),       sweep_workload(),
      sparse_workload(),         fft_workload(),         master_worker_workload(), collective_workload(),
  };
  return kAll;
}

}  // namespace weft::goal
