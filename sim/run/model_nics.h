// What network models have in common where hosts have several NICs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/replay/jobs.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/routing.h"
#include "sim/run/network_model.h"

namespace weft::sim {

// Does every message take all NICs of its host, because the user (kSpray) or the policy says so?
inline bool takes_all_nics(const routing::Policy& policy, routing::NicChoice choice) {
  return choice == routing::NicChoice::kSpray || policy.all_nics;
}

// Which NICs messages take in a run: null where no host has several, and where every message takes all of its
// host's, because the user (kSpray) or the policy says so. Throws InputError as NicNetwork::make() does.
std::unique_ptr<const routing::NicNetwork> nics_of(const ModelRun& run, const routing::Policy& policy,
                                                   routing::NicChoice choice);

// The run's jobs, whose ranks use the NICs of this network as the choice says, unless their programs name
// others; null: the first.
std::vector<ReplayJob> jobs_with(const ModelRun& run, routing::NicChoice choice,
                                 const routing::NicNetwork* nics);

// Adds what becomes of the messages of NICs whose cables fail, if any do, that ranks share accelerators, and
// that graphs name NICs which hosts lack or which aren't asked for.
void add_nic_remarks(const ModelRun& run, const routing::Policy& policy, routing::NicChoice choice,
                     std::vector<std::string>& warnings);

}  // namespace weft::sim
