#include "goal/workload/permutation.h"
#include "goal/workload/workload.h"

namespace weft::goal {

std::span<const Workload> workloads() {
  static const Workload kAll[] = {permutation_workload()};
  return kAll;
}

}  // namespace weft::goal
