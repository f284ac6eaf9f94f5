#include "goal/workload/alltoall.h"
#include "goal/workload/collective.h"
#include "goal/workload/compute.h"
#include "goal/workload/connections.h"
#include "goal/workload/data_parallel/dlrm.h"
#include "goal/workload/data_parallel/resnet.h"
#include "goal/workload/fan.h"
#include "goal/workload/fft.h"
#include "goal/workload/index_patterns.h"
#include "goal/workload/llm/llm.h"
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
namespace {

Workload flows(Workload workload) {
  workload.independent_flows = true;
  return workload;
}

}  // namespace

std::span<const Workload> workloads() {
  static const Workload kAll[] = {
      flows(permutation_workload()),
      flows(random_workload()),
      flows(shift_workload()),
      flows(tornado_workload()),
      flows(bit_complement_workload()),
      flows(bit_reverse_workload()),
      flows(transpose_workload()),
      flows(bisection_workload()),
      flows(incast_workload()),
      flows(outcast_workload()),
      alltoall_workload(),
      flows(poisson_workload()),
      flows(connections_workload()),
      ping_pong_workload(),
      stencil_workload(),
      sweep_workload(),
      sparse_workload(),
      fft_workload(),
      master_worker_workload(),
      collective_workload(),
      compute_workload(),
      llm_workload(),
      resnet_workload(),
      dlrm_workload(),
  };
  return kAll;
}

void add_facts(const Workload& workload, const Parameters& parameters, std::uint32_t ranks,
               std::map<std::string, std::string>& metadata) {
  if (workload.calls_nccl) metadata["nccl_library"] = "NCCL";
  if (workload.facts == nullptr) return;
  for (const auto& [name, value] : workload.facts(parameters, ranks)) metadata[name] = value;
}

}  // namespace weft::goal
