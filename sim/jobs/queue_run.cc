#include "sim/jobs/queue_run.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace weft::jobs {

std::vector<Time> run_queue(std::span<const TimedJob> jobs, Scheduler& scheduler) {
  using End = std::pair<Time, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::vector<Time> starts(jobs.size());
  std::size_t next = 0;
  while (next < jobs.size() || !ends.empty()) {
    Time now = ends.empty() ? Time::max() : ends.top().first;
    if (next < jobs.size()) now = std::min(now, jobs[next].submit);
    for (; !ends.empty() && ends.top().first == now; ends.pop()) scheduler.finished(now, ends.top().second);
    for (; next < jobs.size() && jobs[next].submit == now; ++next) {
      scheduler.submitted(now, {static_cast<std::uint32_t>(next), jobs[next].nodes, jobs[next].estimate});
    }
    scheduler.schedule(now, [&](const QueuedJob& job) {
      starts[job.id] = now;
      ends.emplace(after(now, jobs[job.id].runtime), job.id);
      return true;
    });
  }
  return starts;
}

QueueFigures figures(std::span<const TimedJob> jobs, std::span<const Time> starts, std::uint32_t nodes,
                     Time least) {
  QueueFigures result;
  double busy = 0, last = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const TimedJob& job = jobs[i];
    const double waiting = (starts[i] - job.submit).seconds(), runtime = job.runtime.seconds();
    const double turnaround = waiting + runtime;
    result.mean_waiting_s += waiting;
    result.max_waiting_s = std::max(result.max_waiting_s, waiting);
    result.mean_turnaround_s += turnaround;
    // A job without any length that waits has a slowdown without bounds: it counts as one of a nanosecond.
    result.mean_slowdown += runtime == 0 && waiting == 0 ? 1 : turnaround / std::max(runtime, 1e-9);
    result.mean_bounded_slowdown += std::max(1.0, turnaround / std::max(runtime, least.seconds()));
    busy += runtime * job.nodes;
    last = std::max(last, (starts[i] - jobs.front().submit).seconds() + runtime);
  }
  const double count = static_cast<double>(std::max<std::size_t>(jobs.size(), 1));
  for (double* mean : {&result.mean_waiting_s, &result.mean_turnaround_s, &result.mean_slowdown,
                       &result.mean_bounded_slowdown}) {
    *mean /= count;
  }
  result.makespan_s = last;
  result.utilization = last > 0 ? busy / (last * nodes) : 0;
  return result;
}

}  // namespace weft::jobs
