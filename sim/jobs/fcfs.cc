#include <deque>

#include "sim/jobs/running_jobs.h"
#include "sim/jobs/schedulers.h"

namespace weft::jobs {
namespace {

class Fcfs final : public Scheduler {
 public:
  explicit Fcfs(std::uint32_t nodes) : running_(nodes) {}
  void submitted(Time, const QueuedJob& job) override { queue_.push_back(job); }
  void finished(Time, std::uint32_t id) override { running_.finish(id); }
  void schedule(Time now, const std::function<bool(const QueuedJob&)>& start) override {
    while (!queue_.empty() && queue_.front().nodes <= running_.free() && start(queue_.front())) {
      running_.start(now, queue_.front());
      queue_.pop_front();
    }
  }
  std::size_t waiting() const override { return queue_.size(); }

 private:
  RunningJobs running_;
  std::deque<QueuedJob> queue_;
};

}  // namespace

SchedulerEntry fcfs() {
  return {
      .info = {.name = "fcfs",
               .summary = "First come, first served: no job starts before those submitted earlier.",
               .source = "U. Schwiegelshohn, R. Yahyapour, Analysis of first-come-first-serve parallel job "
                         "scheduling, SODA 1998",
               .parameters = {}},
      .make = [](const Parameters&, std::uint32_t nodes) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Fcfs>(nodes);
      }};
}

}  // namespace weft::jobs
