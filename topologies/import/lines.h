// Text files of one record a line, and the words and numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::topologies {

// Goes through the lines of a text that have words. # and % begin comments where a word could begin; words
// end at blanks, commas and semicolons.
class Lines {
 public:
  // REQUIRES: `text` outlives it. Throws InputError if the text has bytes 0: it is not text.
  Lines(std::string_view text, const std::string& file);

  // To the next line with words; false at the end. Blank lines count as such with `blank_too`, if they have
  // no comment.
  bool next(bool blank_too = false);
  const std::vector<std::string_view>& words() const { return words_; }
  // The line's fields with that sign between them, without blanks around; empty ones count, and those in
  // quotes may hold the sign.
  std::vector<std::string> fields(char between) const;
  std::string_view text() const { return text_; }
  // Does the line end with a % that stands alone? It is a unit then, and no comment.
  bool ends_with_percent() const;
  std::int64_t line() const { return at_.line; }
  // "FILE:LINE: found 'the line', but expected …"
  [[noreturn]] void fail_expecting(const std::string& expected) const;
  [[noreturn]] void fail(const std::string& message) const { throw InputError(at_, message); }

 private:
  std::string_view rest_, text_;  // text_: of the present line
  SourceLocation at_;
  std::vector<std::string_view> words_;
};

// A whole number without sign; nothing if it is none, or is 2^64 or more.
std::optional<std::uint64_t> whole_number(std::string_view text);
// A finite decimal number; nothing if it is none.
std::optional<double> finite_number(std::string_view text);
std::string lower_case(std::string_view text);
// The beginning of a text that may be long, for messages.
std::string shortened(std::string_view text);

}  // namespace weft::topologies
