#include "sim/model_nics.h"

namespace weft::sim {

std::unique_ptr<const routing::NicNetwork> nics_of(const ModelRun& run, const routing::Policy& policy,
                                                   bool sprays) {
  if (sprays || policy.all_nics) return nullptr;
  return routing::NicNetwork::make(run.fabric->topology, run.fabric->table, policy.leads_to_hosts);
}

std::vector<ReplayJob> jobs_with(const ModelRun& run, const NicRule* nics) {
  std::vector<ReplayJob> jobs(run.jobs.begin(), run.jobs.end());
  for (ReplayJob& job : jobs) job.hosts.nics = nics;
  return jobs;
}

}  // namespace weft::sim
