// Lists of jobs: what is read, what is refused, and a log of a real machine.
#include "sim/jobs/job_list.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sim/jobs/queue_run.h"
#include "sim/jobs/schedulers.h"
#include "sim/units/input_error.h"
#include "tests/sim/jobs/naive_scheduler.h"

namespace weft::jobs {
namespace {

const char* const kLog =
    "; MaxNodes: 32\n; MaxProcs: 64\n;\n"
    "  7  100  5  60.5  8 60 -1  8  120 -1 1 1 1 3 -1 1 -1 -1\n"
    "  8   90  5  -1    4 -1 -1 -1   -1 -1 5 1 1 -1 -1 1 -1 -1\r\n"
    "\n"
    "  9  110 -1  -1   -1 -1 -1 -1  120 -1 5 1 1 -1 -1 1 -1 -1\n"
    " 10  111  0 130    1 -1 -1  2  120 -1 1 1 1 -1 -1 1 -1 -1\n";

TEST_CASE("a log in the Standard Workload Format", "[job_list]") {
  const JobList list = read_swf(kLog, "log.swf");
  CHECK(list.machine_nodes == 32);
  CHECK(list.machine_processors == 64);
  REQUIRE(list.jobs.size() == 3);
  CHECK(list.jobs[0].id == "8");
  CHECK(list.jobs[0].submit == 0);
  CHECK(list.jobs[0].ranks == 4);  // it had four, and asked for none
  CHECK(list.jobs[0].estimate() == kUnknown);
  CHECK(list.jobs[1].id == "7");
  CHECK(list.jobs[1].submit == 10 * kSecond);
  CHECK(list.jobs[1].runtime == 60'500'000'000);
  CHECK(list.jobs[1].estimate() == 120 * kSecond);
  CHECK(list.jobs[1].model == "3");
  CHECK(list.jobs[1].line == 4);
  CHECK(list.jobs[2].ranks == 2);  // it asked for two, and had one
  std::vector<std::string> counted;
  for (const auto& each : list.anomalies) counted.push_back(each.name + " " + std::to_string(each.count));
  CHECK(counted == std::vector<std::string>{"without_processors 1", "without_runtime 1", "overran 1",
                                            "other_processors 1", "early_jobs 1"});
}

TEST_CASE("what a log says and is not used is counted", "[job_list]") {
  const auto counted = [](const std::string& text) {
    std::string all;
    for (const auto& each : read_swf(text, "log.swf").anomalies) {
      all += each.name + " " + std::to_string(each.count) + ";";
    }
    return all;
  };
  const std::string one = "1 0 0 100 8 -1 -1 8 100 -1 1 1 1 -1 1 -1 -1 -1\n";
  CHECK(counted("; MaxProcs: 1,024\n" + one) == "unread_sizes 1;");
  CHECK(read_swf("; MaxProcs: 1,024\n" + one, "log.swf").machine_processors == 0);
  CHECK(read_swf("; maxprocs: 16 (8 nodes of 2)\n" + one, "log.swf").machine_processors == 16);
  CHECK(counted("; MaxNodes: -1\n" + one).empty());
  // It waits for job 1, and 20 s more.
  CHECK(counted(one + "2 5 0 100 8 -1 -1 8 100 -1 1 1 1 -1 1 -1 1 20\n") == "preceding_jobs 1;");
  CHECK(counted("1 0 0 100 16 -1 -1 8 100 -1 1 1 1 -1 1 -1 -1 -1\n") == "other_processors 1;");
}

TEST_CASE("what a log in that format can't be", "[job_list]") {
  const auto refuses = [](const std::string& text, const std::string& message) {
    CHECK_THROWS_MATCHES(read_swf(text, "log.swf"), InputError, Catch::Message(message));
  };
  const std::string rest = " 8 60 -1 8 120 -1 1 1 1 3 -1 1 -1 -1\n";
  refuses("; a\n1 2 3\n", "log.swf:2: a job has 18 fields (Standard Workload Format), and here are 3");
  refuses("1 0 5 x" + rest, "log.swf:1: field 4 is 'x', and must be a number");
  refuses("1 0 5 nan" + rest, "log.swf:1: field 4 is 'nan', and must be a number");
  refuses("1 -1 5 6" + rest, "log.swf:1: field 2, the time of submission, must be at least 0");
  refuses("1 1e300 5 6" + rest, "log.swf:1: field 2 must be at most a hundred years in seconds");
  refuses("1 0 5 6 8 60 -1 1e12 120 -1 1 1 1 3 -1 1 -1 -1\n",
          "log.swf:1: a job may have at most 67108864 processors");
  refuses("1 0 5 6" + rest + "1 9 5 6" + rest, "log.swf:2: job 1 is there already");
  refuses("; MaxNodes: 4\n", "log.swf: it has no jobs that ran on any processor");
}

// What logs of the archive have beside plain jobs.
TEST_CASE("jobs cancelled before they started, parts of jobs, and further columns", "[job_list]") {
  const std::string asked = " 8 -1 -1 8 100 -1 ", rest = " 1 1 -1 1 -1 -1 -1\n";
  const JobList list = read_swf("\n; MaxProcs: 8\n1 0 0 100" + asked + "1" + rest +
                                    "2 1 5 0 0 -1 -1 8 100 -1 5" + rest +  // cancelled in the queue
                                    "3 2 0 7" + asked + "5" + rest +       // cancelled while it ran
                                    "4 10 0 30" + asked + "1 1 1 -1 1 -1 -1 -1 42 x\n" + "4 10 0 10" + asked +
                                    "2" + rest + "4 -1 5 20" + asked + "3" + rest + "5 20 0 10" + asked +
                                    "2" + rest + "5 -1 5 20" + asked + "4" + rest,
                                "log.swf");
  REQUIRE(list.jobs.size() == 4);
  CHECK(list.jobs[1].id == "3");
  CHECK(list.jobs[1].runtime == 7 * kSecond);
  CHECK(list.jobs[2].runtime == 30 * kSecond);
  CHECK(list.jobs[3].runtime == 30 * kSecond);  // no line for the whole: the sum of its parts
  std::vector<std::string> counted;
  for (const auto& each : list.anomalies) counted.push_back(each.name + " " + std::to_string(each.count));
  CHECK(counted ==
        std::vector<std::string>{"cancelled 1", "parts_of_jobs 3", "further_columns 1", "without_runtime 1"});
}

TEST_CASE("a list's kind goes by its name, else by its first line; gzip is unpacked", "[job_list]") {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string root = std::string(folder == nullptr ? "/tmp" : folder) + "/";
  const std::string log = "\n\n; MaxProcs: 8\n1 0 0 100 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1\n";
  for (const std::string name : {"log.swf", "log", "log.txt"}) {
    std::ofstream(root + name) << "\xEF\xBB\xBF" << log;
    CHECK(read_job_list(root + name).jobs.at(0).ranks == 4);
  }
  std::ofstream(root + "one.swf") << "x y\n";
  CHECK_THROWS_WITH(read_job_list(root + "one.swf"), Catch::Contains("field 1 is 'x', and must be a number"));
  gzFile packed = gzopen((root + "packed.swf.gz").c_str(), "wb");
  REQUIRE(gzwrite(packed, log.data(), static_cast<unsigned>(log.size())) > 0);
  REQUIRE(gzclose(packed) == Z_OK);
  CHECK(read_job_list(root + "packed.swf.gz").jobs.at(0).ranks == 4);
}

TEST_CASE("a table of jobs", "[job_list]") {
  const JobList list = read_job_table(
      "# three jobs\nranks, id ,submit,model,requested,runtime\n"
      "8,a,1.5ms,lammps,20ms,\n16,b,0,,, 2\n1, c ,2,stencil,1s,500us\n",
      "jobs.csv");
  REQUIRE(list.jobs.size() == 3);
  CHECK(list.jobs[0].id == "b");
  CHECK(list.jobs[0].ranks == 16);
  CHECK(list.jobs[0].estimate() == 2 * kSecond);  // a bare number is seconds
  CHECK(list.jobs[1].id == "a");
  CHECK(list.jobs[1].submit == 1'500'000);
  CHECK(list.jobs[1].requested == 20'000'000);
  CHECK(list.jobs[1].runtime == kUnknown);
  CHECK(list.jobs[1].model == "lammps");
  CHECK(list.jobs[2].id == "c");
  CHECK(list.jobs[2].runtime == 500'000);
}

TEST_CASE("a table of jobs with time stamps and times of months", "[job_list]") {
  const JobList list = read_job_table(
      "id,submit,ranks,requested,runtime\n"
      "a,1700000000,8,15552000,1e7 s\n"
      "b,1700000060.5,8,1ms,20000000000ms\n",
      "jobs.csv");
  REQUIRE(list.jobs.size() == 2);
  CHECK(list.jobs[0].submit == 0);
  CHECK(list.jobs[0].requested == 15'552'000 * kSecond);  // 180 days
  CHECK(list.jobs[0].runtime == 10'000'000 * kSecond);
  CHECK(list.jobs[1].submit == 60'500'000'000);
  CHECK(list.jobs[1].runtime == 20'000'000 * kSecond);
}

TEST_CASE("what a table of jobs can't be", "[job_list]") {
  const auto refuses = [](const std::string& text, const std::string& message) {
    CHECK_THROWS_MATCHES(read_job_table(text, "j.csv"), InputError, Catch::Message(message));
  };
  refuses("id,when,ranks\n",
          "j.csv:1:4: 'when' is no column of a list of jobs: id, submit, ranks, requested, "
          "runtime, model");
  refuses("id,submit\n", "j.csv:1: a list of jobs must have a column ranks");
  refuses("id,id,submit,ranks\n", "j.csv:1:4: column id is there already");
  refuses("id,submit,ranks\na,0\n", "j.csv:2: there are 2 values, and 3 columns");
  refuses("id,submit,ranks\na,0,0\n", "j.csv:2:5: ranks is '0', and must be a number from 1 to 67108864");
  refuses("id,submit,ranks\na,,1\n", "j.csv:2:3: every job must have a value for submit");
  refuses("id,submit,ranks\na,-1s,1\n",
          "j.csv:2:3: '-1s' is negative; a time can't be (write it like 1.5us)");
  refuses("id,submit,ranks\na,1700000000000,1\n",
          "j.csv:2:3: '1700000000000' is more than a hundred years, the most that a list's times may be");
  refuses("id,submit,ranks\n", "j.csv: it has no jobs that ran on any processor");
  CHECK_THROWS_AS(read_job_table("id,submit,ranks\na,soon,1\n", "j.csv"), InputError);
}

// A year of a cluster of 240 processors. The file's log, read apart: awk '!/^;/ && $8 > 0'.
TEST_CASE("a real machine's log, through each scheduler", "[job_list]") {
  const char* const oracle = std::getenv("WEFT_ORACLE_DIR");
  const auto path = std::filesystem::path(oracle == nullptr ? "" : oracle) / "traces/swf/hpc2n.swf";
  if (!std::filesystem::exists(path)) {
    std::cout << "skipped: a real log; set WEFT_ORACLE_DIR to the folder that holds traces/swf\n";
    return;
  }
  const JobList list = read_job_list(path.string());
  CHECK(list.machine_nodes == 240);
  CHECK(list.jobs.size() == 3170);
  // As a list of jobs that take what they took, a thousand times as fast, so that a year fits a Time.
  std::vector<TimedJob> jobs;
  for (const ListedJob& job : list.jobs) {
    const ListTime runtime = std::max<ListTime>(job.runtime, 0);
    jobs.push_back({Time::ps(job.submit), job.ranks,
                    Time::ps(std::max({job.estimate(), runtime, ListTime{1}})), Time::ps(runtime)});
  }
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    INFO(name);
    const auto scheduler = make_scheduler({.name = name, .given = {}, .location = {}, .locations = {}}, 240);
    const bool same = run_queue(jobs, *scheduler) == NaiveScheduler(jobs, 240, name).run();
    CHECK(same);
  }
}

}  // namespace
}  // namespace weft::jobs
