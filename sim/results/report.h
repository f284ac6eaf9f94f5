// Everything a run reports, and what writes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "goal/not_replayed.h"
#include "sim/results/cpu_times.h"
#include "sim/results/critical_path.h"
#include "sim/results/open_loop.h"
#include "sim/results/path_shares.h"
#include "sim/results/records.h"
#include "sim/results/timeline.h"

namespace weft::results {

// How a run ended; decides the program's exit status.
enum class Outcome : std::uint8_t {
  kComplete,
  kIncomplete,
  kInterrupted,
  kTimeLimit,
  kEventLimit,
  kMemoryLimit
};
// "complete", "incomplete", "interrupted", "time limit", …
std::string_view name(Outcome outcome);

// What became of a job.
enum class JobStatus : std::uint8_t {
  kComplete,
  kIncomplete,  // it could not go on, or messages of it were left
  kStopped,     // the run was
  kNotStarted,
};
// "complete", "incomplete", "stopped", "not started".
std::string_view name(JobStatus status);

struct Job {
  std::string name;
  std::uint32_t ranks = 0, nodes = 0;
  Time submit, start, finish;  // finish: of the last operation of any rank so far
  std::uint64_t runs = 0;      // done, one behind the other
  JobStatus status = JobStatus::kNotStarted;
  std::uint64_t messages = 0, bytes = 0;  // sent by its ranks
  std::vector<std::uint32_t> hosts;       // that it ran on, ascending
  std::uint64_t first_channel = 0;        // of its connections between two of its hosts
  Time alone;                             // duration of one run alone on the same hosts; 0: not known
  std::optional<CriticalPath> path;       // of all its runs, if they are done and the model keeps it
  std::optional<PathShares> path_shares;  // likewise, where it was asked for
  std::optional<CpuTimes> cpu_times;      // likewise
  double compute_scale = 1;
  double overlap_slowdown = 1;     // its calcs took so many times as long beside collectives of their rank
  double tokens = 0;               // that one run of its graph trains on; 0: not known
  double model_flops = 0;          // of one run of its graph, on all ranks; 0: not known
  double device_flops = 0;         // that a rank's device computes a second at most; 0: not known, or scaled
  goal::NotReplayed not_replayed;  // what its graph lacks of the program traced
};

// How much a job was slowed by one other beside it, and no third.
struct Interference {
  std::uint32_t job = 0, beside = 0;
  double slowdown = 1;
};

// What one job has of what a link carried.
struct JobLink {
  std::uint32_t link = 0, job = 0;  // numbers in the report
  std::uint64_t bytes = 0;
  double share = 0;  // of all jobs' bytes there
};

// Tells how many of the hosts with so many NICs have sent or received, and how many of their NICs carried any
// of it, at least, at most and on average.
struct NicUse {
  std::uint32_t nics = 0, hosts = 0, least = 0, most = 0;
  double mean = 0;
};

// How long a fault kept a link down in the course of a run.
struct Outage {
  std::string link;  // "leaf 0 / spine 0"
  Time down;
};

struct Report {
  Outcome outcome = Outcome::kComplete;
  std::string network;         // short form: "loggops:semantics=weft,…"
  std::string topology;        // short form, or "" for a network without one
  std::string routing;         // short form, or "" for a network without one
  std::string routing_reason;  // "" where the policy was chosen, else "recommended for torus"
  // Name, "none", or "" for a network without a topology; "" where it was named, else "by default for torus";
  // what is set otherwise than in it: "routing ecmp instead of reps".
  std::string fabric, fabric_reason;
  std::vector<std::string> fabric_changes;
  std::string congestion, recovery, queue;  // short form, or "" for a network without packets
  std::string queue_choice;                 // "" where the discipline was chosen, else "made for nscc"
  std::string queue_reason;  // "" where virtual channels were chosen, or there are none, else why these
  std::string connections, protocol;  // "4 per_pair"; short form; "" for a network without connections
  std::string scenario;               // resolved, as text
  std::string commit;                 // of the program's sources; "": not known
  std::vector<std::string> inputs;    // paths of the files that it was read from
  std::uint64_t seed = 0;
  Time makespan;             // latest finish of any rank
  Time first_start;          // of any job
  Time longest_job;          // runtime of one
  Time stopped_at;           // of a run that did not complete: how far its clock had come
  std::uint64_t digest = 0;  // of executed events and finish times
  std::uint64_t events = 0;  // executed by the engine
  std::uint64_t ops = 0, executed_ops = 0;
  std::uint64_t messages = 0, bytes = 0;  // sent by ranks, those inside collectives included
  NetworkTotals network_totals;
  std::vector<Outage> outages;                 // the longest first
  std::uint64_t faults = 0, link_changes = 0;  // in the scenario; changes of links by them up to the makespan
  std::uint32_t hosts = 0;                  // of the machine; those that jobs need where there is no topology
  std::vector<std::uint32_t> failed_hosts;  // numbers, ascending: no job gets them
  // Runs in which jobs wait for hosts have these two: see JobQueue (sim/run/job_queue.h).
  std::optional<double> fragmentation;
  std::uint32_t jobs_without_place = 0;
  std::vector<Job> jobs;
  std::vector<Interference> interference;  // pairs of jobs, where it was asked for
  std::vector<Rank> ranks;
  std::vector<Link> links;
  std::vector<NicUse> nics_used;         // by number of NICs, ascending
  std::vector<JobLink> job_links;        // of the links that were busy longest
  std::vector<std::uint64_t> job_bytes;  // by link, and for each by job; empty: not counted
  std::vector<Flow> flows;
  FlowStatistics flow_statistics;
  std::optional<OpenLoop> open_loop;  // of a job alone whose messages arrive as they like
  Timeline timeline;
  std::vector<std::string> warnings;    // settings that could not act, …
  goal::NotReplayed not_replayed;       // what the graph lacks of the program traced
  std::vector<std::string> diagnosis;   // why it ended incomplete
  double wall_seconds = 0;              // of the simulation alone, without reading and writing files
  std::uint64_t peak_memory_bytes = 0;  // of the process
};

// Receives the report at the end of a run.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  // Throws InputError if a file can't be written.
  virtual void write(const Report& report) = 0;
};

// The content of summary.json.
std::string json_summary(const Report& report);

// The summary for people, in plain text of at most ~90 columns; `directory` is named in it if not empty.
std::string text_summary(const Report& report, const std::string& directory);

}  // namespace weft::results
