// Where the time of a run's critical paths went: on which jobs, ranks, operations and links.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/results/report.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::cli {

// Lists of shares that add up to 1, the largest first, and last what is left out.

// Divides the makespan among jobs: its end is the share of the job that ended last; what is before that job's
// start is the share of the job that gave it hosts, if it waited for some, and so on. Read from summary.json.
// Throws nlohmann's errors.
nlohmann::ordered_json shares_by_job(const nlohmann::json& run);

// Divides the critical path of job `job` by `ranks`, `activities` and, in a network with links, `links`.
// REQUIRES: the report has its path_shares.
nlohmann::ordered_json where_of(const results::Report& report, std::size_t job,
                                const topologies::Topology* topology, const sim::Scenario& scenario);

// For people, a line each.
std::string jobs_text(const nlohmann::ordered_json& shares);
std::string where_text(const nlohmann::ordered_json& where);

}  // namespace weft::cli
