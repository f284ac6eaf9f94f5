// Jobs that wait for hosts while a run goes on: a scheduler says which is next, placement where it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/jobs/scheduler.h"
#include "sim/placement/fragmentation.h"
#include "sim/placement/placement.h"
#include "sim/replay/jobs.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

class JobQueue final : public JobStarter {
 public:
  // `jobs` are those of a scenario with a scheduler, in its order; they, it and the topology, which may be
  // null, must outlive this. Without a topology jobs get the free hosts with the lowest numbers. Throws
  // InputError for a job that could never start, as it has no room on the machine were it alone.
  JobQueue(const Scenario& decided, std::span<const ReplayJob> jobs, const topologies::Topology* topology);

  void submitted(std::uint32_t job, Time now) override;
  void finished(std::uint32_t job, Time now) override;
  // Throws InputError as placement does.
  std::vector<Start> start(Time now) override;

  // What the job got, ascending; none if it has not started.
  const std::vector<std::uint32_t>& hosts_of(std::uint32_t job) const { return jobs_[job].hosts; }

  // What placement and the scheduler have to say of jobs.
  const std::vector<std::string>& remarks() const { return remarks_; }
  // Tells how fragmented free hosts were, mean over the time in which there were any, up to the last end of a
  // job.
  double fragmentation() const { return fragmentation_.mean(); }
  // Jobs that a scheduler would have started earlier, as enough hosts were free, but placement had no room.
  std::uint32_t jobs_without_place() const;

 private:
  using States = placement::States;
  struct Waiting {
    placement::Request request;
    Time estimate;
    std::vector<placement::Exchange> exchanges = {};  // from when it is first to be placed until it is
    std::vector<std::uint32_t> hosts = {};
    bool had_no_place = false;  // when it could have started
  };
  void check(std::uint32_t job);
  void tell_missing_estimates();
  placement::Outcome place(std::uint32_t job, States& states);
  bool take(std::uint32_t job, std::vector<Start>& starts);

  const Scenario& scenario_;
  const std::span<const ReplayJob> replayed_;
  const topologies::Topology* topology_;
  std::vector<Waiting> jobs_;
  std::vector<std::string> remarks_;
  States states_;  // of the hosts
  placement::FragmentationOverTime fragmentation_;
  std::unique_ptr<jobs::Scheduler> scheduler_;
};

}  // namespace weft::sim
