#include "goal/workload/line_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::goal {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

// No sign, no hexadecimal, nothing left over.
template <typename Number>
bool parse(std::string_view text, Number& value) {
  if (text.empty() || text.front() == '-') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void Word::fail(const std::string& message) const { throw InputError(location, message); }

void Word::fail_expected(const std::string& expected) const {
  const std::string found = text.empty() ? "the end of the line" : fmt::format("'{}'", text.substr(0, 40));
  fail(fmt::format("found {}; expected {}", found, expected));
}

std::uint64_t Word::whole(const std::string& expected, std::uint64_t least, std::uint64_t most) const {
  std::uint64_t value = 0;
  if (!parse(text, value) || value < least || value > most) {
    fail_expected(fmt::format("{}, a whole number from {} to {}", expected, least, most));
  }
  return value;
}

double Word::real(const std::string& expected, double least, double most) const {
  double value = 0;
  if (!parse(text, value) || !(value >= least && value <= most)) {
    fail_expected(fmt::format("{}, a number from {} to {}", expected, least, most));
  }
  return value;
}

LineReader::LineReader(std::string_view text, std::string file_name)
    : rest_(text), file_name_(std::move(file_name)) {}

bool LineReader::next_line() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    line_ = line_.substr(0, line_.find('#'));
    ++line_number_;
    at_ = 0;
    if (line_.find_first_not_of(kBlanks) != std::string_view::npos) return true;
  }
  line_ = {};
  at_ = 0;
  return false;
}

Word LineReader::next_word() {
  at_ = std::min(line_.find_first_not_of(kBlanks, at_), line_.size());
  const std::size_t end = std::min(line_.find_first_of(kBlanks, at_), line_.size());
  const std::size_t begin = std::exchange(at_, end);
  return {line_.substr(begin, end - begin),
          {.file = file_name_, .line = line_number_, .column = static_cast<std::int64_t>(begin) + 1}};
}

void LineReader::expect_end_of_line(const std::string& after) {
  const Word word = next_word();
  if (!word.text.empty()) word.fail_expected("nothing after " + after);
}

Word LineReader::end_of_file() const { return {{}, {.file = file_name_, .line = line_number_}}; }

}  // namespace weft::goal
