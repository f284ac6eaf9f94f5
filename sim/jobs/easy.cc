#include <list>

#include "sim/jobs/running_jobs.h"
#include "sim/jobs/schedulers.h"

namespace weft::jobs {
namespace {

class Easy final : public Scheduler {
 public:
  explicit Easy(std::uint32_t nodes) : running_(nodes) {}
  void submitted(Time, const QueuedJob& job) override { queue_.push_back(job); }
  void finished(Time, std::uint32_t id) override { running_.finish(id); }
  void schedule(Time now, const std::function<bool(const QueuedJob&)>& start) override {
    while (!queue_.empty() && queue_.front().nodes <= running_.free()) {
      if (!start(queue_.front())) break;
      running_.start(now, queue_.front());
      queue_.pop_front();
    }
    if (!queue_.empty()) fill_in(now, start);
  }
  std::size_t waiting() const override { return queue_.size(); }

 private:
  // When the first of the queue can start at the latest, and how many nodes it leaves free then.
  struct Shadow {
    Time at;
    std::uint32_t extra = 0;
  };
  Shadow shadow(Time now) const {
    const auto ends = running_.ends(now);
    std::uint32_t free = running_.free();
    // It fits already, but there is no place for it: nobody knows when there will be.
    if (free >= queue_.front().nodes) return {ends.empty() ? now : ends.front().first, 0};
    for (std::size_t i = 0; i < ends.size(); ++i) {
      free += ends[i].second;
      const bool last_of_moment = i + 1 == ends.size() || ends[i + 1].first != ends[i].first;
      if (free >= queue_.front().nodes && last_of_moment) return {ends[i].first, free - queue_.front().nodes};
    }
    return {Time::max(), 0};
  }
  // Starts later jobs that don't delay the first: they end before, or it doesn't need their nodes.
  void fill_in(Time now, const std::function<bool(const QueuedJob&)>& start) {
    Shadow shadow = this->shadow(now);
    for (auto job = std::next(queue_.begin()); job != queue_.end();) {
      const bool ends_before = shadow.at - now >= job->estimate;
      const bool fits = job->nodes <= running_.free() && (ends_before || job->nodes <= shadow.extra);
      if (!fits || !start(*job)) {
        ++job;
        continue;
      }
      if (!ends_before) shadow.extra -= job->nodes;
      running_.start(now, *job);
      job = queue_.erase(job);
    }
  }

  RunningJobs running_;
  std::list<QueuedJob> queue_;
};

}  // namespace

SchedulerEntry easy() {
  return {
      .info = {.name = "easy",
               .summary = "EASY backfilling: first come, first served, but later jobs may start if they "
                          "don't delay the first that waits.",
               .source = "D. A. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; A. W. Mu'alem, D. G. "
                         "Feitelson, IEEE TPDS 12(6), 2001",
               .parameters = {}},
      .make = [](const Parameters&, std::uint32_t nodes) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Easy>(nodes);
      },
      .goes_by_estimates = true};
}

}  // namespace weft::jobs
