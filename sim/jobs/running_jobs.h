// The jobs that have nodes, and when each is expected to give them back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/jobs/scheduler.h"

namespace weft::jobs {

class RunningJobs {
 public:
  explicit RunningJobs(std::uint32_t nodes) : free_(nodes) {}
  std::uint32_t free() const { return free_; }
  void start(Time now, const QueuedJob& job) {
    free_ -= job.nodes;
    jobs_.emplace(job.id, Running{after(now, job.estimate), job.nodes});
  }
  void finish(std::uint32_t id) {
    const auto job = jobs_.find(id);
    free_ += job->second.nodes;
    jobs_.erase(job);
  }
  // Ends and nodes, by time. A job that is late ends at the next moment.
  std::vector<std::pair<Time, std::uint32_t>> ends(Time now) const {
    std::vector<std::pair<Time, std::uint32_t>> ends;
    for (const auto& [id, job] : jobs_) ends.emplace_back(std::max(job.end, now + Time::ps(1)), job.nodes);
    std::sort(ends.begin(), ends.end());
    return ends;
  }

 private:
  struct Running {
    Time end;
    std::uint32_t nodes = 0;
  };
  std::uint32_t free_;
  std::map<std::uint32_t, Running> jobs_;
};

}  // namespace weft::jobs
