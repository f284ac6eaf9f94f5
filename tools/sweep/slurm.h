// A sweep on a cluster with Slurm (Yoo, Jette, Grondona, "SLURM: Simple Linux Utility for Resource
// Management", JSSPP 2003): arrays of tasks that run some points each, and after them a job that writes the
// tables.
//
// DIR/slurm.json has the jobs that were handed over, DIR/slurm/N.txt what they run: a line for each task,
// with names of points. What a task does is up to the caller: `weft sweep run DIR N.txt LINE`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/sweep/folder.h"

namespace weft::sweep {

// Where the points are that were handed to Slurm and are not done.
struct SlurmPoints {
  struct Ended {
    std::string task, state;  // "12_3", and "TIMEOUT", where that is known
  };
  std::set<std::string> queued, running;  // names
  std::map<std::string, Ended> ended;     // by name
  // Why it is queued, in Slurm's words, where that isn't only that others are served first; by name.
  std::map<std::string, std::string> reasons;

  bool busy(const std::string& name) const { return queued.contains(name) || running.contains(name); }
  bool any_busy() const { return !queued.empty() || !running.empty(); }
};

struct SlurmRequest {
  std::string program;                // weft itself, where the nodes find it too
  std::vector<std::string> options;   // for sbatch: "partition=x", or with dashes
  std::size_t slots = 1;              // points of a task side by side
  std::optional<std::uint32_t> each;  // points of a task; by default so many that 100 tasks do
};

// What was handed over; nothing where all is done or with Slurm already.
struct Submission {
  std::size_t points = 0, tasks = 0;
  std::vector<std::string> arrays;  // numbers of jobs
  std::string collection;           // that of the job that writes the tables
};

// Throws InputError for options of sbatch that would get in the way of a sweep's own.
void check_sbatch_option(const std::string& option);
// Was any of the folder handed to Slurm?
bool uses_slurm(const std::string& folder);
// Asks squeue, and sacct where the cluster has one. Throws InputError where Slurm doesn't answer.
SlurmPoints slurm_points(const Folder& folder);
// What a task said last; "" for nothing.
std::string last_words_of_task(const Folder& folder, const std::string& task);
// Hands over what is neither done nor there already. Throws InputError where Slurm refuses that.
Submission submit(const Folder& folder, const SlurmRequest& request);
// The points of a task: line `task`, from 0 on, of a list. Throws InputError if there is none.
std::set<std::string> points_of_task(const std::string& list, std::uint64_t task);

}  // namespace weft::sweep
