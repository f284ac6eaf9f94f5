// A list of jobs on a machine without a network: each takes the time that the list says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/jobs/scheduler.h"

namespace weft::jobs {

struct TimedJob {
  Time submit;
  std::uint32_t nodes = 1;
  Time estimate;  // above 0
  Time runtime;
};

// When each of them starts. REQUIRES: in order of submission; the machine that the scheduler was made for has
// enough nodes for each.
std::vector<Time> run_queue(std::span<const TimedJob> jobs, Scheduler& scheduler);

// What came of it, by the names and definitions of the parallel workloads' literature (D. G. Feitelson,
// Metrics for parallel job scheduling and their convergence, JSSPP 2001).
struct QueueFigures {
  double makespan_s = 0;      // from the first submission to the last end
  double mean_waiting_s = 0;  // from submission to start
  double max_waiting_s = 0;
  double mean_turnaround_s = 0;  // to the end
  double mean_slowdown = 0;      // turnaround by runtime; 1 for jobs that take no time and don't wait
  // Runtimes below `least` count as that long here, and each slowdown as 1 at least.
  double mean_bounded_slowdown = 0;
  double utilization = 0;  // of nodes, over the makespan
};
QueueFigures figures(std::span<const TimedJob> jobs, std::span<const Time> starts, std::uint32_t nodes,
                     Time least);

}  // namespace weft::jobs
