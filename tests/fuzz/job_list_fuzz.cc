// Lists of jobs: logs in the Standard Workload Format, and tables.
#include "sim/jobs/job_list.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const auto consistent = [](const jobs::JobList& list) {
    jobs::ListTime before = 0;
    for (const jobs::ListedJob& job : list.jobs) {
      fuzz::require(job.submit >= before, "jobs that are not in the order of their submission");
      fuzz::require(job.ranks > 0 && job.ranks <= jobs::kMostRanks, "a job without ranks");
      before = job.submit;
    }
    return true;
  };
  fuzz::attempt([&] { return consistent(jobs::read_swf(text, "log.swf")); });
  fuzz::attempt([&] { return consistent(jobs::read_job_table(text, "jobs.csv")); });
  return 0;
}
