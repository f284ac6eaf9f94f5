// Reads text files of words and numbers, line by line, and knows where each word stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/units/input_error.h"

namespace weft::goal {

struct Word {
  std::string_view text;  // empty: the end of the line
  SourceLocation location;

  // Throws InputError at the word: "MESSAGE".
  [[noreturn]] void fail(const std::string& message) const;
  // Throws InputError: "found WORD; expected EXPECTED".
  [[noreturn]] void fail_expected(const std::string& expected) const;
  // The word as a number. Throws InputError that says what was expected.
  std::uint64_t whole(const std::string& expected, std::uint64_t least, std::uint64_t most) const;
  double real(const std::string& expected, double least, double most) const;
};

// Words are separated by blanks; empty lines and everything after a '#' are skipped. The text must outlive
// the reader and its words.
class LineReader {
 public:
  LineReader(std::string_view text, std::string file_name);
  // Goes to the next line that has a word; false at the end of the file.
  bool next_line();
  // The next word of the line, or the empty one at its end.
  Word next_word();
  // Throws InputError if the line has another word. `after` is for the message: "found 'x' after AFTER".
  void expect_end_of_line(const std::string& after);
  // The end of the file, for errors about what it lacks.
  Word end_of_file() const;

 private:
  std::string_view rest_;  // after the current line
  std::string_view line_;
  std::size_t at_ = 0;  // in line_
  std::int64_t line_number_ = 0;
  std::string file_name_;
};

}  // namespace weft::goal
