// The Standard Workload Format.
#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/jobs/job_list.h"
#include "sim/jobs/list_reader.h"
#include "sim/units/input_error.h"

namespace weft::jobs {
namespace {

// By their numbers in the format's definition, from 1.
enum Field : std::size_t {
  kId = 1,
  kSubmit = 2,
  kRunTime = 4,
  kUsedProcessors = 5,
  kAskedProcessors = 8,
  kAskedTime = 9,
  kStatus = 11,
  kExecutable = 14,
  kPreceding = 17,
  kFields = 18,
};
// A job that was cancelled has this status; before it started, also no processors and no run time.
constexpr double kCancelled = 5;
// A job that was stopped and went on may have a line for each time it ran, beside one for the whole.
constexpr double kPart = 2, kLastPart = 4;

struct Reader {
  const std::string& name;
  JobList& list;
  std::uint64_t without_processors = 0, without_time = 0, overran = 0, cancelled = 0, parts = 0, longer = 0;
  std::uint64_t others = 0, preceded = 0, unread_sizes = 0;
  std::unordered_map<std::string, std::size_t> whole;  // jobs by id, where parts may follow
  std::unordered_set<std::string> in_parts;            // ids of which only parts were seen

  [[noreturn]] void fail(std::int64_t line, const std::string& what) const {
    throw InputError({.file = name, .line = line}, what);
  }
  void header(std::string_view line);
  void job(std::string_view line, std::int64_t number);
  double value(std::string_view word, std::int64_t line, std::size_t field) const;
  ListTime time(double seconds, std::int64_t line, std::size_t field) const;
  // Whether it is a further part of a job that is there already.
  bool add_part(const ListedJob& job, double status);
};

// The number that a text begins with, if it ends there or at a blank: of "1,024" nothing, as that isn't 1.
std::uint32_t leading_count(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, count);
  const bool whole = behind == end || *behind == ' ' || *behind == '\t';
  return error == std::errc() && whole ? count : 0;
}

// "; MaxNodes: 240". What isn't of these is a comment.
void Reader::header(std::string_view line) {
  line = without_blanks(line.substr(1));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, colon), text = without_blanks(line.substr(colon + 1));
  const std::uint32_t count = leading_count(text);
  for (const auto& [name, size] :
       {std::pair("maxnodes", &list.machine_nodes), std::pair("maxprocs", &list.machine_processors)}) {
    if (!boost::algorithm::iequals(key, name)) continue;
    *size = count;
    unread_sizes += count == 0 && !text.empty() && !text.starts_with('-');
  }
}

double Reader::value(std::string_view word, std::int64_t line, std::size_t field) const {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) {
    fail(line, "field " + std::to_string(field) + " is '" + std::string(word) + "', and must be a number");
  }
  return number;
}

// -1 stands for what isn't known.
ListTime Reader::time(double seconds, std::int64_t line, std::size_t field) const {
  if (seconds < 0) return kUnknown;
  if (seconds > kLongest) {
    fail(line, "field " + std::to_string(field) + " must be at most a hundred years in seconds");
  }
  return std::llround(seconds * static_cast<double>(kSecond));
}

// The line for the whole job counts; where there is none, the parts' times add up.
bool Reader::add_part(const ListedJob& job, double status) {
  const bool part = status >= kPart && status <= kLastPart;
  const auto [found, first] = whole.try_emplace(job.id, list.jobs.size());
  if (first && part) in_parts.insert(job.id);
  if (first || !part) return false;
  ++parts;
  ListedJob& of = list.jobs[found->second];
  if (in_parts.contains(job.id) && of.runtime > 0 && job.runtime > 0) of.runtime += job.runtime;
  return true;
}

void Reader::job(std::string_view line, std::int64_t number) {
  std::array<double, kFields + 1> fields{};
  std::size_t count = 0;
  for (std::string_view rest = without_blanks(line); !rest.empty(); rest = without_blanks(rest)) {
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    if (++count > kFields) {
      ++longer;
      break;
    }
    fields[count] = value(rest.substr(0, end), number, count);
    rest.remove_prefix(end);
  }
  if (count == 0) return;
  if (count < kFields)
    fail(number, "a job has 18 fields (Standard Workload Format), and here are " + std::to_string(count));
  const bool part = fields[kStatus] >= kPart && fields[kStatus] <= kLastPart;
  if (fields[kSubmit] < 0 && !part) fail(number, "field 2, the time of submission, must be at least 0");
  ListedJob job;
  job.id = std::to_string(std::llround(fields[kId]));
  job.line = number;
  job.submit = time(fields[kSubmit], number, kSubmit);
  job.runtime = time(fields[kRunTime], number, kRunTime);
  job.requested = time(fields[kAskedTime], number, kAskedTime);
  if (fields[kExecutable] > 0) job.model = std::to_string(std::llround(fields[kExecutable]));
  const double processors = fields[kAskedProcessors] > 0 ? fields[kAskedProcessors] : fields[kUsedProcessors];
  if (processors > kMostRanks) fail(number, "a job may have at most 67108864 processors");
  if (processors < 1) {
    ++without_processors;
    return;
  }
  if (fields[kStatus] == kCancelled && job.runtime <= 0 && fields[kUsedProcessors] <= 0) {
    ++cancelled;
    return;
  }
  if (add_part(job, fields[kStatus])) return;
  if (fields[kSubmit] < 0) fail(number, "field 2, the time of submission, must be at least 0");
  job.ranks = static_cast<std::uint32_t>(processors);
  without_time += job.runtime == kUnknown || fields[kStatus] == kCancelled;
  overran += job.requested > 0 && job.runtime > job.requested;
  others += fields[kUsedProcessors] > 0 && fields[kUsedProcessors] != processors;
  preceded += fields[kPreceding] > 0;
  add_job(list, std::move(job), name);
}

}  // namespace

JobList read_swf(const std::string& text, const std::string& name) {
  JobList list;
  Reader reader{name, list};
  for_each_line(text, [&](std::string_view line, std::int64_t number) {
    line = without_blanks(line);
    if (line.starts_with(';')) return reader.header(line);
    reader.job(line, number);
  });
  note(list, "without_processors", goal::Severity::kWarning,
       "Jobs that neither asked for processors nor had any; they are left out.", reader.without_processors);
  note(list, "cancelled", goal::Severity::kInfo,
       "Jobs that were cancelled before they started; they are left out.", reader.cancelled);
  note(list, "parts_of_jobs", goal::Severity::kInfo,
       "Lines for parts of jobs that were stopped and went on; each job counts once.", reader.parts);
  note(list, "further_columns", goal::Severity::kInfo,
       "Lines with more than the format's 18 columns; the others are not read.", reader.longer);
  note(list, "without_runtime", goal::Severity::kInfo,
       "Jobs that were cancelled, or of which the list doesn't say how long they ran.", reader.without_time);
  note_overran(list, reader.overran);
  note(list, "other_processors", goal::Severity::kInfo,
       "Jobs that had another number of processors than they had asked for, which is taken.", reader.others);
  note(list, "preceding_jobs", goal::Severity::kWarning,
       "Jobs that were to wait for another (fields 17 and 18); here they wait for nodes only.",
       reader.preceded);
  note(list, "unread_sizes", goal::Severity::kWarning,
       "Sizes of the machine in the heading (MaxNodes, MaxProcs) that are no plain numbers; they are not "
       "read.",
       reader.unread_sizes);
  finish(list, name);
  return list;
}

}  // namespace weft::jobs
