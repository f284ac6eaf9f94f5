#include "goal/workload/compute/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::goal {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const auto comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string file_name, std::vector<std::string> wanted)
    : rest_(text), file_name_(std::move(file_name)) {
  if (!next_line()) fail("found no line with the names of columns");
  for (std::string_view cell : split(line_)) columns_.emplace_back(cell);
  for (const std::string& column : wanted) {
    if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) continue;
    fail("the column '" + column + "' is missing; expected a first line that names the columns");
  }
}

bool CsvReader::next() {
  if (!next_line()) return false;
  cells_ = split(line_);
  if (cells_.size() != columns_.size()) {
    fail("found " + std::to_string(cells_.size()) + " cells; expected " + std::to_string(columns_.size()) +
         ", as in the first line");
  }
  return true;
}

bool CsvReader::next_line() {
  while (!rest_.empty()) {
    const auto end = rest_.find('\n');
    line_ = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_number_;
    if (line_.empty()) continue;
    if (line_[0] != '#') return true;
    if (columns_.empty()) comments_.emplace_back(trimmed(line_.substr(1)));
  }
  return false;
}

std::string_view CsvReader::text(std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  return cells_[static_cast<std::size_t>(at - columns_.begin())];
}

double CsvReader::number(std::string_view column) const {
  const std::string_view cell = text(column);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value <= 0) {
    fail("found '" + std::string(cell) + "' as " + std::string(column) + "; expected a number above 0");
  }
  return value;
}

void CsvReader::fail(const std::string& message) const {
  throw InputError({file_name_, line_number_}, message);
}

}  // namespace weft::goal
