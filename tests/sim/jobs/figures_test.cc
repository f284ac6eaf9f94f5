// What is said of jobs and of their machine.
#include <catch2/catch.hpp>
#include <vector>

#include "sim/results/jobs.h"

using namespace weft;
using namespace weft::results;

TEST_CASE("figures of a job follow from its times") {
  Job job;
  job.submit = Time::ns(100);
  job.start = Time::ns(300);
  job.finish = Time::ns(700);
  CHECK(waiting(job) == Time::ns(200));
  CHECK(runtime(job) == Time::ns(400));
  CHECK(turnaround(job) == Time::ns(600));
  CHECK(stretch(job) == 1.5);
  Report report;
  report.jobs = {job};
  find_spans(report);
  CHECK_FALSE(bounded_slowdown(report, job));  // of no job would it be another than 1
  CHECK_FALSE(slowdown(job));
  job.alone = Time::ns(100);
  CHECK_FALSE(slowdown(job));  // no run is done
  job.runs = 2;
  job.status = JobStatus::kComplete;
  CHECK(*slowdown(job) == 2);
  job.finish = Time::ns(20'000'000'300);
  job.start = Time::ns(300);
  job.submit = Time();
  report.jobs = {job, {}};
  report.jobs[1].status = JobStatus::kNotStarted;
  report.makespan = job.finish;
  find_spans(report);
  CHECK(*bounded_slowdown(report, job) == Approx(1 + 300e-9 / 20));
  CHECK(span_of_jobs(report) == Time::ns(20'000'000'000));
  job.start = job.finish - Time::ns(600);
  CHECK(*bounded_slowdown(report, job) == Approx(2).epsilon(1e-6));
}

TEST_CASE("Jain's index") {
  CHECK(jain_index(std::vector<double>{}) == 1);
  CHECK(jain_index(std::vector<double>{3, 3, 3}) == Approx(1));
  CHECK(jain_index(std::vector<double>{1, 0, 0, 0}) == Approx(0.25));
  CHECK(jain_index(std::vector<double>{1, 3}) == Approx(16.0 / 20));
}

TEST_CASE("hosts are told as intervals") {
  CHECK(interval_set(std::vector<std::uint32_t>{}).empty());
  CHECK(interval_set(std::vector<std::uint32_t>{4}) == "4");
  CHECK(interval_set(std::vector<std::uint32_t>{0, 1, 2, 5, 7, 8}) == "0-2 5 7-8");
}

TEST_CASE("utilization is of hosts and time") {
  Report report;
  report.hosts = 4;
  report.makespan = Time::ns(100);
  Job job;
  job.nodes = 2;
  job.finish = Time::ns(50);
  job.status = JobStatus::kComplete;
  report.jobs = {job, job};
  const MachineFigures all = machine_figures(report);
  CHECK(all.utilization == 0.5);
  CHECK(all.finished == 2);
  CHECK(all.mean_stretch == 1);
  CHECK(all.mean_slowdown == 0);
}
