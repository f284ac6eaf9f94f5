// From the jobs of a scenario and their programs to what is replayed: what their hosts cost, and on
// which hosts they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/placement/placement.h"
#include "sim/replay/jobs.h"
#include "sim/results/report.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// follow_library() (mpi_library.h) for each job; remarks say of which job they are where there are several.
void follow_libraries(Scenario& scenario, std::span<const goal::Program> programs,
                      std::vector<std::string>& remarks);

// The machine before any job: hosts are free, but for those that have failed. Throws InputError for hosts
// that don't exist.
placement::Machine machine_of(const Scenario& scenario, const topologies::Topology& topology);

// What the ranks of a job send each other, if its placement goes by that; else nothing. Throws InputError as
// placement::exchanges_of() does.
std::vector<placement::Exchange> exchanges_for_placement(const Job& what, const ReplayJob& job);
// Places a job as its scenario says; where that goes by what is sent and nothing is, by the default policy,
// as any hosts will do. Throws InputError as placement::place() does.
placement::Outcome place_job(const Job& what, const placement::Request& request,
                             const placement::Machine& machine);

// One for each job of a scenario in which the libraries have been followed, in its order. Jobs are placed one
// after the other, each on hosts of its own, which it keeps for the whole run; with a scheduler none is
// placed. Without a topology (null) they are next to each other in number. Throws InputError if a placement
// can't be had, or where there are too few hosts. What placements have to say goes to `remarks`.
std::vector<ReplayJob> jobs_to_replay(const Scenario& decided, std::span<const goal::Program> programs,
                                      const topologies::Topology* topology,
                                      std::vector<std::string>& remarks);

// Hosts that these jobs use: the highest number and 1.
std::uint32_t hosts_used(std::span<const ReplayJob> jobs);

// What results say of a job before it has run.
results::Job job_row(const ReplayJob& job);

}  // namespace weft::sim
