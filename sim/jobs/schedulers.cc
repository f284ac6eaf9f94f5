#include "sim/jobs/schedulers.h"

#include <utility>

#include "sim/units/module_list.h"

namespace weft::jobs {
namespace {

ModuleList<SchedulerEntry>& list() {
  static ModuleList<SchedulerEntry> list("scheduler", {fcfs(), easy(), conservative()});
  return list;
}

}  // namespace

std::span<const SchedulerEntry> schedulers() { return list().all(); }
void add_scheduler(SchedulerEntry entry) { list().add(std::move(entry)); }

std::unique_ptr<Scheduler> make_scheduler(const ModuleChoice& choice, std::uint32_t nodes) {
  const SchedulerEntry& entry = find_module(schedulers(), choice, "scheduler");
  return entry.make(Parameters(entry.info, choice), nodes);
}

}  // namespace weft::jobs
