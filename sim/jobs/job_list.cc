#include "sim/jobs/job_list.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "goal/import/json/byte_stream.h"
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

void note_overran(JobList& list, std::uint64_t count) {
  note(list, "overran", goal::Severity::kInfo, "Jobs that ran longer than they had asked for.", count);
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

namespace {

// By its name, else by the first line that isn't blank.
bool is_swf(std::string_view text, std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".swf")) return true;
  if (path.ends_with(".csv")) return false;
  const std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view first = without_blanks(rest.substr(0, rest.find('\n')));
  return first.starts_with(';') || (!first.empty() && first.find(',') == std::string_view::npos &&
                                    first.find_first_not_of("0123456789-+. \t\r") == std::string_view::npos);
}

}  // namespace

std::uint32_t nodes_of(const JobList& list, std::uint32_t ranks_per_node) {
  const bool by_node = ranks_per_node > 1 || list.machine_processors == 0;
  return by_node && list.machine_nodes > 0 ? list.machine_nodes : list.machine_processors;
}

JobList read_job_list(const std::string& path) {
  goal::ByteStream stream(path);
  std::string text;
  std::array<char, std::size_t{1} << 16> piece;
  while (const std::size_t bytes = stream.read(piece.data(), piece.size())) text.append(piece.data(), bytes);
  return is_swf(text, path) ? read_swf(text, path) : read_job_table(text, path);
}

}  // namespace weft::jobs
