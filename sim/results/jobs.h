// What is said of the jobs of a run, and of the machine that they shared.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/results/report.h"
#include "sim/results/row.h"

namespace weft::results {

// A job that has not finished has the times of its part so far.
Time runtime(const Job& job);     // from its start to the end of its last operation, all runs
Time waiting(const Job& job);     // from its submission to its start
Time turnaround(const Job& job);  // from its submission to the end of its last operation
// Turnaround over runtime; 1 for one that takes no time. (batsim's stretch.)
double stretch(const Job& job);
// Gives the stretch with runtimes of 10 s at least, and 1 at least: D. G. Feitelson et al., Theory and
// Practice in Parallel Job Scheduling, JSSPP 1997. None where all jobs are shorter, as those of lists whose
// times are scaled: it would be 1 whatever they waited.
std::optional<double> bounded_slowdown(const Report& report, const Job& job);
// Fills in Report::first_start and longest_job from its jobs.
void find_spans(Report& report);
// From the start of the first job to the makespan.
Time span_of_jobs(const Report& report);
// Duration of a run against that of the same job alone on the same hosts; none where that is not known, or
// where no run was done.
std::optional<double> slowdown(const Job& job);

// Tells which part `time` is of the runtime of all its runs; 0 where the job takes no time.
double share_of_runtime(const Job& job, Time time);
// Tokens that a job trains on each second of its runtime, all its runs; none where its graph doesn't say how
// many it has, or where it did not come to its end. Of a report: of all jobs that say so, from the first
// start of these to the last end.
std::optional<double> tokens_per_second(const Job& job);
std::optional<double> tokens_per_second(const Report& report);

// FLOPs of the model (not those that are computed twice) that each of its ranks comes to a second; none where
// its graph doesn't say how many it has, or where it did not come to its end.
std::optional<double> model_flops_per_second(const Job& job);
// Likewise as a share of its device's dense peak (A. Chowdhery et al., PaLM, 2022: MFU); none where that
// is not known.
std::optional<double> model_flops_utilization(const Job& job);

// Waiting times, turnarounds and stretches are of all jobs that finished.
struct MachineFigures {
  std::uint32_t jobs = 0, finished = 0;
  // Hosts × time in which a job had them, over hosts × makespan; of hosts that have not failed.
  double utilization = 0;
  Time mean_waiting, max_waiting, mean_turnaround, max_turnaround;
  double mean_stretch = 0, max_stretch = 0;
  // Only jobs whose slowdown is known count; 0 if there are none.
  double mean_slowdown = 0, max_slowdown = 0;
  // R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984, of 1 / slowdown: 1 where all are slowed alike.
  double fairness = 0;
};
MachineFigures machine_figures(const Report& report);

// Links that a byte of the job crosses, mean over all it puts on the wire, headers and ACKs included: bytes
// on all links over those on links that leave its hosts. None where links aren't counted by job, or nothing
// was sent.
std::optional<double> hops(const Report& report, std::size_t job);

// What the job is bound by; "" where that isn't known. Open-loop traffic is bound by its "arrivals" as long
// as the network keeps up, else by "bandwidth".
std::string_view bound_by(const Report& report, const Job& job);

// (Σx)² / (n Σx²); 1 for no values.
double jain_index(std::span<const double> values);

// "0-3 8": numbers that ascend.
std::string interval_set(std::span<const std::uint32_t> numbers);

inline constexpr const char* kJobColumns =
    "job,name,submit_ns,start_ns,finish_ns,runtime_ns,waiting_ns,slowdown,turnaround_ns,stretch,"
    "bounded_slowdown,status,runs,alone_ns,ranks,nodes,messages,bytes,hosts,hops,bound_by";
inline constexpr const char* kJobLinkColumns = "link,from,to,utilization,job,name,bytes,share";
inline constexpr std::size_t kMostJobLinks = 1000;
inline constexpr const char* kInterferenceColumns = "job,name,beside,beside_name,slowdown";

// Lists the links that were busy longest, kMostJobLinks at most, by number, with a row for each job that used
// one. It is empty where bytes were not counted by job. REQUIRES: the report's links, jobs and times are
// filled in.
std::vector<JobLink> job_links(const Report& report);

// Fill a row of these tables, which is empty.
void fill_job(const Report& report, std::size_t index, Row& row);
void fill_job_link(const Report& report, std::size_t index, Row& row);
void fill_interference(const Report& report, std::size_t index, Row& row);

}  // namespace weft::results
