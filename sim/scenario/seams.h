// Where a scenario chooses modules, and the parts of it whose parameters are described as those of modules
// are.
#pragma once

#include <span>
#include <vector>

#include "sim/scenario/registries.h"
#include "sim/scenario/run_settings.h"
#include "sim/units/module.h"

namespace weft::sim {

// One place where a kind of module is chosen.
struct Seam {
  const char* field;  // in the scenario file, and of the flag: "topology", "--topology"
  const char* word;   // in messages: "routing policy"
  std::vector<const ModuleInfo*> (*modules)(const Registries& registries);
  ModuleChoice RunSettings::*choice;  // null where jobs choose
};
// The description of what is chosen there. Throws InputError, at the choice, if it is not in the list.
const ModuleInfo& find_info(const Seam& seam, const Registries& registries, const ModuleChoice& choice);
// network, topology, routing, congestion, recovery, queue.
std::span<const Seam> seams();
// traffic, which each job chooses for itself.
const Seam& traffic_seam();
// placement, which each job may choose; a draft has one for those that don't.
const Seam& placement_seam();
// scheduler, one for all jobs.
const Seam& scheduler_seam();

// What hosts cost and how they send, as parameters: o, O, S, the protocol in short form, and more.
const ModuleInfo& hosts_section();
// One fault of links: which, from when until when, what is left of them.
const ModuleInfo& fault_section();
// How collective operations choose their algorithm: `profile` and `table` (where there are profiles), and one
// parameter for each kind of operation, in the order of `registries`.
ModuleInfo collectives_section(const Registries& registries);

}  // namespace weft::sim
