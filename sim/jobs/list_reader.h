// What readers of job lists have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/jobs/job_list.h"

namespace weft::jobs {

// The longest time in a list, a hundred years, in seconds.
inline constexpr double kLongest = 100 * 365.25 * 86400;

// Calls `read` for each line, without its end and with its number from 1.
void for_each_line(std::string_view text, const std::function<void(std::string_view, std::int64_t)>& read);
std::string_view without_blanks(std::string_view text);
// Appends a job, and throws InputError where there are too many.
void add_job(JobList& list, ListedJob job, const std::string& name);
// Counts a kind of irregularity, if there is any.
void note(JobList& list, std::string name, goal::Severity severity, std::string sentence,
          std::uint64_t count);
// Counts jobs that ran longer than they had asked for.
void note_overran(JobList& list, std::uint64_t count);
// Puts jobs in order, times from the first on, and counts those that were out of order or share an id. Throws
// InputError for a list without jobs.
void finish(JobList& list, const std::string& name);

}  // namespace weft::jobs
