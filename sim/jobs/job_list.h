// Lists of jobs, as batch systems log them and users write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "sim/units/quantity.h"

namespace weft::jobs {

// A span of a list's own time: whole nanoseconds, as logs go over years, which a simulation's Time doesn't.
using ListTime = std::int64_t;
inline constexpr ListTime kSecond = 1'000'000'000;
inline constexpr ListTime kUnknown = -1;

struct ListedJob {
  std::string id;                 // each of a list its own
  ListTime submit = 0;            // since the list began
  std::uint32_t ranks = 0;        // processors
  ListTime requested = kUnknown;  // what its user said it would take
  ListTime runtime = kUnknown;    // what it took
  std::string model;      // the application that it runs, as the list calls it; "" where it doesn't say
  std::int64_t line = 0;  // in the file
  // What a queue goes by: the time requested, else the time it took; kUnknown if neither is known.
  ListTime estimate() const { return requested > 0 ? requested : runtime; }
};

struct JobList {
  std::vector<ListedJob> jobs;      // by time of submission, then as in the file
  std::uint32_t machine_nodes = 0;  // what they ran on, if the list says so; 0: not known
  std::uint32_t machine_processors = 0;
  bool names_models = false;  // a table whose jobs name models, which a log's executables are not
  std::vector<goal::Anomaly> anomalies;
};

// Nodes of the machine that the list's jobs need where so many ranks share a node: ranks are processors, so
// with one on each node every processor is one. 0: the list doesn't say.
std::uint32_t nodes_of(const JobList& list, std::uint32_t ranks_per_node);

// The most jobs of a list, and the most ranks of a job.
inline constexpr std::size_t kMostJobs = 10'000'000;
inline constexpr std::uint32_t kMostRanks = 1u << 26;

// Reads a list in the Standard Workload Format, version 2.2 (S. J. Chapin, W. Cirne, D. G. Feitelson et al.,
// Benchmarks and standards for the evaluation of parallel job schedulers, JSSPP 1999): 18 fields a line,
// times in seconds, comments behind ';'. Jobs without processors, those cancelled before they started, lines
// for parts of a job (status 2 to 4) beside its own, and columns beyond the 18th are left out, and counted.
// Throws InputError with file and line.
JobList read_swf(const std::string& text, const std::string& name);

// Reads a table with a heading, whose columns are in any order: `id`, `submit`, `ranks`, which every list
// has, and `requested`, `runtime`, `model`. Times have units ("1.5ms"); bare numbers are seconds, also
// those since 1970. Throws InputError with file, line and column.
JobList read_job_table(const std::string& text, const std::string& name);

// Reads a file of either kind, plain or gzip, which its name (.swf, .csv) or its first line tells. Throws
// InputError.
JobList read_job_list(const std::string& path);

}  // namespace weft::jobs
