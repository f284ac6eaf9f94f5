// Tables of jobs, in comma-separated values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/jobs/job_list.h"
#include "sim/jobs/list_reader.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::jobs {
namespace {

enum Column : std::size_t { kId, kSubmit, kRanks, kRequested, kRuntime, kModel, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"id",        "submit",  "ranks",
                                                           "requested", "runtime", "model"};
constexpr std::size_t kNeeded = 3;  // the first ones

struct Cell {
  std::string_view text;
  std::int64_t column = 1;  // where it begins
};

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back({without_blanks(line.substr(begin, end - begin)), static_cast<std::int64_t>(begin) + 1});
    begin = end + 1;
  }
  return cells;
}

struct Reader {
  const std::string& name;
  JobList& list;
  std::vector<std::size_t> columns = {};  // what the table's are
  std::uint64_t overran = 0;

  [[noreturn]] void fail(std::int64_t line, const Cell& cell, const std::string& what) const {
    throw InputError({.file = name, .line = line, .column = cell.column}, what);
  }
  void heading(std::string_view line, std::int64_t number);
  void job(std::string_view line, std::int64_t number);
  ListTime time(const Cell& cell, std::int64_t line) const;
  std::uint32_t ranks(const Cell& cell, std::int64_t line) const;
};

void Reader::heading(std::string_view line, std::int64_t number) {
  for (const Cell& cell : cells_of(line)) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), cell.text);
    if (found == kNames.end()) {
      fail(number, cell,
           "'" + std::string(cell.text) +
               "' is no column of a list of jobs: id, submit, ranks, requested, runtime, model");
    }
    const auto column = static_cast<std::size_t>(found - kNames.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      fail(number, cell, "column " + std::string(cell.text) + " is there already");
    }
    columns.push_back(column);
  }
  for (std::size_t column = 0; column < kNeeded; ++column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      throw InputError({.file = name, .line = number},
                       "a list of jobs must have a column " + std::string(kNames[column]));
    }
  }
}

// A time that is too large for a simulation's, as time stamps are; nothing for any other text.
std::optional<long double> beyond_simulations(std::string_view text) {
  constexpr long double kMostOfTime = 9e18L;  // ps, and less than Time holds
  long double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = without_blanks({end, static_cast<std::size_t>(last - end)});
  try {
    const Time one = parse_time("1" + std::string(unit), Time::us(1'000'000));
    const long double ps = number * static_cast<long double>(one.ps());
    return ps > kMostOfTime ? std::optional(ps) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;  // no unit
  }
}

ListTime Reader::time(const Cell& cell, std::int64_t line) const {
  if (cell.text.empty()) return kUnknown;
  try {
    if (const auto ps = beyond_simulations(cell.text)) {
      const long double ns = *ps / 1000;
      if (ns > static_cast<long double>(kLongest) * kSecond) {
        throw InputError(fmt::format("'{}' is more than a hundred years, the most that a list's times may be",
                                     printable(std::string(cell.text))));
      }
      return std::llround(ns);
    }
    return parse_time(cell.text, Time::us(1'000'000)).ps() / 1000;
  } catch (const InputError& error) {
    fail(line, cell, error.what());
  }
}

std::uint32_t Reader::ranks(const Cell& cell, std::int64_t line) const {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), count);
  if (error != std::errc() || end != cell.text.data() + cell.text.size() || count < 1 || count > kMostRanks) {
    fail(line, cell, "ranks is '" + std::string(cell.text) + "', and must be a number from 1 to 67108864");
  }
  return count;
}

void Reader::job(std::string_view line, std::int64_t number) {
  const std::vector<Cell> cells = cells_of(line);
  if (cells.size() != columns.size()) {
    throw InputError({.file = name, .line = number}, "there are " + std::to_string(cells.size()) +
                                                         " values, and " + std::to_string(columns.size()) +
                                                         " columns");
  }
  ListedJob job;
  job.line = number;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    switch (columns[i]) {
      case kId:
        job.id = cell.text;
        break;
      case kSubmit:
        job.submit = time(cell, number);
        break;
      case kRanks:
        job.ranks = ranks(cell, number);
        break;
      case kRequested:
        job.requested = time(cell, number);
        break;
      case kRuntime:
        job.runtime = time(cell, number);
        break;
      default:
        job.model = cell.text;
        break;
    }
    if (cell.text.empty() && columns[i] < kNeeded) {
      fail(number, cell, "every job must have a value for " + std::string(kNames[columns[i]]));
    }
  }
  overran += job.requested > 0 && job.runtime > job.requested;
  list.names_models |= !job.model.empty();
  add_job(list, std::move(job), name);
}

}  // namespace

JobList read_job_table(const std::string& text, const std::string& name) {
  JobList list;
  Reader reader{name, list};
  for_each_line(text, [&](std::string_view line, std::int64_t number) {
    line = without_blanks(line);
    if (line.empty() || line.starts_with('#')) return;
    if (reader.columns.empty()) return reader.heading(line, number);
    reader.job(line, number);
  });
  note_overran(list, reader.overran);
  finish(list, name);
  return list;
}

}  // namespace weft::jobs
