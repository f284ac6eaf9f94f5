#include "sim/jobs/job_list.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "goal/file.h"
#include "sim/jobs/list_reader.h"
#include "sim/units/input_error.h"

namespace weft::jobs {

void for_each_line(std::string_view text, const std::function<void(std::string_view, std::int64_t)>& read) {
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    read(line, ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

void add_job(JobList& list, ListedJob job, const std::string& name) {
  if (list.jobs.size() == kMostJobs) {
    throw InputError({.file = name, .line = job.line},
                     "a list may have at most " + std::to_string(kMostJobs) + " jobs");
  }
  list.jobs.push_back(std::move(job));
}

void note(JobList& list, std::string name, goal::Severity severity, std::string sentence,
          std::uint64_t count) {
  if (count > 0) list.anomalies.push_back({std::move(name), severity, std::move(sentence), count});
}

void finish(JobList& list, const std::string& name) {
  if (list.jobs.empty()) throw InputError({.file = name}, "it has no jobs that ran on any processor");
  std::unordered_set<std::string_view> ids;
  std::uint64_t early = 0;
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const ListedJob& job = list.jobs[i];
    if (!ids.insert(job.id).second) {
      throw InputError({.file = name, .line = job.line}, "job " + job.id + " is there already");
    }
    early += i > 0 && job.submit < list.jobs[i - 1].submit;
  }
  note(list, "early_jobs", goal::Severity::kInfo,
       "Jobs that were submitted before the one on the line above; jobs were sorted.", early);
  std::stable_sort(list.jobs.begin(), list.jobs.end(),
                   [](const ListedJob& a, const ListedJob& b) { return a.submit < b.submit; });
  const ListTime begin = list.jobs.front().submit;
  for (ListedJob& job : list.jobs) job.submit -= begin;
}

JobList read_job_list(const std::string& path) {
  const goal::FileView file(path);
  const std::string text(file.bytes());
  const std::string_view first = without_blanks(std::string_view(text).substr(0, text.find('\n')));
  const bool is_swf =
      first.starts_with(';') || (!first.empty() && first.find(',') == std::string_view::npos &&
                                 first.find_first_not_of("0123456789-+. \t\r") == std::string_view::npos);
  return is_swf ? read_swf(text, path) : read_job_table(text, path);
}

}  // namespace weft::jobs
