#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "sim/jobs/node_profile.h"
#include "sim/jobs/running_jobs.h"
#include "sim/jobs/schedulers.h"

namespace weft::jobs {
namespace {

// Every job that waits has a reservation. Whenever something happens they are made anew in their order, so
// that each moves forward or stays, as long as no job takes longer than expected: those before it use no more
// nodes from its start on than they would have.
class Conservative final : public Scheduler {
 public:
  explicit Conservative(std::uint32_t nodes) : running_(nodes) {}
  void submitted(Time, const QueuedJob& job) override { queue_.push_back({job, Time::max(), submitted_++}); }
  void finished(Time, std::uint32_t id) override { running_.finish(id); }
  void schedule(Time now, const std::function<bool(const QueuedJob&)>& start) override {
    NodeProfile profile = profile_of_running(now);
    std::sort(queue_.begin(), queue_.end(), [](const Waiting& a, const Waiting& b) {
      return std::tie(a.reserved, a.turn) < std::tie(b.reserved, b.turn);
    });
    std::erase_if(queue_, [&](Waiting& each) {
      const QueuedJob& job = each.job;
      each.reserved = profile.earliest(now, job.estimate, job.nodes);
      const bool starts = each.reserved == now && start(job);
      profile.take(each.reserved, after(each.reserved, job.estimate), job.nodes);
      if (starts) running_.start(now, job);
      return starts;
    });
  }
  std::size_t waiting() const override { return queue_.size(); }

 private:
  struct Waiting {
    QueuedJob job;
    Time reserved;           // max: not yet
    std::uint64_t turn = 0;  // of submission
  };

  NodeProfile profile_of_running(Time now) const {
    const auto ends = running_.ends(now);
    std::uint32_t nodes = running_.free();
    for (const auto& [end, count] : ends) nodes += count;
    NodeProfile profile(now, nodes);
    for (const auto& [end, count] : ends) profile.take(now, end, count);
    return profile;
  }

  RunningJobs running_;
  std::vector<Waiting> queue_;
  std::uint64_t submitted_ = 0;
};

}  // namespace

SchedulerEntry conservative() {
  return {
      .info = {.name = "conservative",
               .summary = "Conservative backfilling: every job has a reservation when it is submitted, and "
                          "later jobs may start if they delay none.",
               .source =
                   "A. W. Mu'alem, D. G. Feitelson, Utilization, predictability, workloads, and user "
                   "runtime estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12(6), 2001",
               .parameters = {}},
      .make = [](const Parameters&, std::uint32_t nodes) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Conservative>(nodes);
      },
      .goes_by_estimates = true};
}

}  // namespace weft::jobs
