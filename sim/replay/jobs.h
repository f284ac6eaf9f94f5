// Several programs replayed side by side on one network: the jobs of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/replay.h"
#include "sim/results/records.h"

namespace weft::sim {

// How often a job runs: each run begins when all ranks are done with the one before, on the same hosts and
// connections. One of the three at most.
struct Repetition {
  std::uint64_t times = 1;
  bool until_others_end = false;  // again while a job without this goes on
  Time duration;                  // again while less than this has passed since its first start; 0: not
  bool is_once() const { return times == 1 && !until_others_end && duration == Time(); }
};

struct ReplayJob {
  std::string name;  // for messages
  goal::Program program;
  HostConfig hosts;
  std::vector<std::uint32_t> host_of_rank = {};  // empty: by ranks_per_host, or as the starter says
  Time submit = {};                              // it starts then, or when the starter says so
  Repetition repetition = {};
  // Its connections between two hosts have numbers from this on, or from where those of jobs before it end
  // there.
  std::uint64_t least_channel = 0;
  bool keeps_steps = false;  // JobProgress::path_shares is asked for. REQUIRES: one partition
};

// Decides while a run goes on which jobs start, and where: a queue of jobs. Jobs go by their places in the
// list that the replay was given.
class JobStarter {
 public:
  struct Start {
    std::uint32_t job = 0;
    std::vector<std::uint32_t> host_of_rank;
  };
  virtual ~JobStarter() = default;
  // A job's time of submission has come, or a job has finished, all its runs, and frees its hosts. Of one
  // moment, jobs that finish by work of their cpus come first, then those that are submitted, in the order of
  // the list.
  virtual void submitted(std::uint32_t job, Time now) = 0;
  virtual void finished(std::uint32_t job, Time now) = 0;
  // After these: the jobs to start now, each of which was submitted and has not started yet. Asked again in
  // the same moment if a message that arrives then lets one more job finish.
  virtual std::vector<Start> start(Time now) = 0;
};

// What has become of a job.
struct JobProgress {
  bool started = false;
  Time start, finish;               // of its first run; latest finish of any rank so far
  std::uint64_t runs = 0;           // that are done
  std::uint64_t unreceived = 0;     // messages that arrived, and that no receive took
  bool collectives_differ = false;  // as in ReplayTotals, in any of its runs that are done
  std::uint64_t first_channel = 0;
  std::optional<results::CriticalPath> path;       // of its runs, one behind the other, if all are done
  std::optional<results::PathShares> path_shares;  // likewise, if they are kept
  bool complete = false;                           // all its runs are done, and all messages were received
};

// Ranks, communicators and tags of different jobs have nothing to do with each other; jobs meet in the
// network only, where each has connections of its own. One job alone costs what a Replay costs. Results and
// digest are the same for any partitioning.
class JobReplays {
 public:
  // As the constructor of Replay. `hosts` of the jobs are below `host_count`. With a starter, which must
  // outlive this, or with repetitions there must be one partition: a run then starts jobs as others end, and
  // drops what it knows of runs that are done. Throws InputError.
  JobReplays(std::vector<ReplayJob> jobs, std::uint32_t host_count, std::span<Engine* const> engines,
             std::span<const std::uint16_t> partition_of_host, JobStarter* starter = nullptr,
             results::TimelineRecorder* timeline = nullptr);
  ~JobReplays();
  JobReplays(const JobReplays&) = delete;
  JobReplays& operator=(const JobReplays&) = delete;

  // Can they only be replayed in one partition?
  static bool needs_one_partition(std::span<const ReplayJob> jobs, const JobStarter* starter);

  // As those of Replay, of all jobs together.
  NetworkClient& client(std::size_t partition);
  void start(std::span<Network* const> networks);
  void finish_timeline();
  bool complete() const;
  double progress() const;
  std::uint64_t memory_bytes() const;
  ReplayTotals totals() const;
  std::uint64_t digest() const;
  // Rows by job and rank. Of a job that ran several times the sums over its runs, and the last finish.
  std::vector<results::Rank> ranks() const;
  // Tells why jobs can't go on; each line has the job's name where there are several.
  std::vector<std::string> diagnose(std::size_t limit = 10) const;
  JobProgress progress_of(std::uint32_t job) const;
  // Adds up the runs of a job, one behind the other; nothing if their times aren't kept, or not all are done.
  std::optional<results::CpuTimes> cpu_times_of(std::uint32_t job) const;

 private:
  class Port;
  class CountingNetwork;
  struct Job;
  // A job's run. Null when it is done and dropped.
  struct Instance {
    std::uint32_t job = 0;
    std::unique_ptr<Replay> replay;
    std::unique_ptr<CountingNetwork> network;
  };

  void begin_timeline();
  void prepare(std::uint32_t job, Time start);
  void choose_channels(Job& job);
  void submit(std::uint32_t job);
  void launch(std::uint32_t job);
  void handle_own(const Event& event);
  void ask_starter();
  void after_event(std::uint32_t instance);
  void finish_run(std::uint32_t instance);
  bool runs_again(const Job& job) const;
  bool others_go_on() const;
  Replay* replay_of(std::uint32_t instance) const { return instances_[instance].replay.get(); }
  Time now() const { return engines_[0]->now(); }

  std::vector<Engine*> engines_;
  std::vector<std::uint16_t> partition_of_host_;
  JobStarter* starter_;
  results::TimelineRecorder* timeline_;
  bool is_dynamic_;
  std::vector<Job> jobs_;
  std::vector<Instance> instances_;
  std::vector<std::uint32_t> job_of_entity_;
  EntityId first_entity_ = 0, own_entity_ = 0;  // of all ranks; this one schedules submissions and starts
  std::uint32_t scheduled_ = 0;                 // its events
  bool starter_is_asked_ = false;               // there is an event for it
  std::vector<std::uint64_t> next_channel_;     // of each host
  Network* network_ = nullptr;                  // of a dynamic run
  std::vector<std::unique_ptr<Port>> ports_;    // of each partition; none for one job alone
};

}  // namespace weft::sim
