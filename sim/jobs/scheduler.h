// The seam of schedulers: which of the jobs that wait starts next on a machine of equal nodes. A scheduler
// counts nodes; which ones a job gets is placement's matter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::jobs {

// As a queue sees a job.
struct QueuedJob {
  std::uint32_t id = 0;  // each its own
  std::uint32_t nodes = 1;
  // What it is expected to take. A job that takes longer goes on, and is expected to end at any moment.
  Time estimate;
};

// Driven by calls whose `now` never falls. At one moment all ends are told before all submissions, and
// schedule() comes last, once; in a simulation an end may follow at the same moment, and schedule() again.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // REQUIRES: the machine has so many nodes; estimate above 0.
  virtual void submitted(Time now, const QueuedJob& job) = 0;
  // A job that was started has ended, and its nodes are free.
  virtual void finished(Time now, std::uint32_t id) = 0;
  // Starts what may start, in order: `start` gives a job its nodes, or says that there is no place for it
  // although enough nodes are free (false). Such a job waits.
  virtual void schedule(Time now, const std::function<bool(const QueuedJob&)>& start) = 0;
  // Jobs that wait.
  virtual std::size_t waiting() const = 0;
};

// A scheduler as users choose it.
struct SchedulerEntry {
  ModuleInfo info;
  std::unique_ptr<Scheduler> (*make)(const Parameters& parameters, std::uint32_t nodes) = nullptr;
  bool goes_by_estimates = false;  // when jobs start depends on what others are expected to take
};

// Those built in, the default first, and those added.
std::span<const SchedulerEntry> schedulers();
void add_scheduler(SchedulerEntry entry);
// The chosen one, for a machine of so many nodes. Throws InputError for a choice that makes no sense.
std::unique_ptr<Scheduler> make_scheduler(const ModuleChoice& choice, std::uint32_t nodes);

}  // namespace weft::jobs
