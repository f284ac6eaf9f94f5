// What a replay takes from the library that its graph is of: an MPI, or NCCL.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/replay/replay.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Decides protocol and profile of collectives where the scenario leaves them to the graph (kByRules): those
// of the library in its metadata ("mpi_library", the first line of MPI_Get_library_version), else the profile
// `nccl` if it has a "nccl_library" and the scenario a topology, or names no library and hosts are GPUs of
// nodes, or that of the machine whose preset the topology is, else the first of each. Such a machine's hosts
// cost what fabrics::host_costs() says, but for traffic of independent flows. With NCCL's profile hosts cost
// nothing where the user says nothing of them. Adds a sentence to `remarks` for what it took from there.
// Twice is as good as once.
void follow_library(Scenario& scenario, const goal::Program& program, std::vector<std::string>& remarks);

// Says so where ranks on processors reduce 64 KiB and more and nothing was said of the time that takes.
// REQUIRES: follow_library() has decided; one program for each job, or one for the only job.
void tell_free_reductions(const Scenario& scenario, std::span<const goal::Program> programs,
                          std::vector<std::string>& remarks);

// Sets eager messages, rendezvous and connections of the hosts, as a scenario says in which protocol and
// profile are decided. Throws InputError.
void set_protocol(const Scenario& scenario, HostConfig& hosts);

}  // namespace weft::sim
