// Reads the words, numbers and lists of a GOAL text. For this folder only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/input_error.h"

namespace weft::goal {

inline constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c); }

// A place in a text, and what moves it on. What does not stand there as expected is an InputError with line
// and column.
class Scanner {
 protected:
  Scanner(std::string_view text, const std::string& file_name)
      : at_(text.data()), end_(text.data() + text.size()), line_begin_(at_), file_name_(file_name) {}

  // --- errors ---

  [[noreturn]] void fail_at(const char* where, const std::string& message) const {
    // A comment over lines may part a statement; then the place is where reading has got to.
    if (where < line_begin_) where = at_;
    throw InputError(SourceLocation{.file = file_name_, .line = line_, .column = where - line_begin_ + 1},
                     message);
  }
  [[noreturn]] void fail(const std::string& message) const { fail_at(at_, message); }

  // What stands at the current position, for messages.
  std::string found() const {
    if (at_ == end_) return "the end of the file";
    if (*at_ == '\n') return "the end of the line";
    const char* last = at_ + 1;
    if (is_word(*at_)) {
      while (last != end_ && is_word(*last)) ++last;
    }
    const auto shown = std::min<std::ptrdiff_t>(last - at_, 40);
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte < 0x20 || byte >= 0x7F) return "a byte of value " + std::to_string(byte);
    return "'" + std::string(at_, static_cast<std::size_t>(shown)) + "'";
  }

  // --- scanning ---

  void new_line() {
    ++line_;
    line_begin_ = at_;
  }

  // Skips blanks and comments, but stops at the end of a line.
  void skip_blanks() {
    while (at_ != end_) {
      if (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') {
        ++at_;
      } else if (*at_ == '/') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    if (at_ + 1 != end_ && at_[1] == '/') {
      while (at_ != end_ && *at_ != '\n') ++at_;
      return;
    }
    if (at_ + 1 == end_ || at_[1] != '*') fail("found '/'; a comment is '// …' or '/* … */'");
    const SourceLocation begin{.file = file_name_, .line = line_, .column = at_ - line_begin_ + 1};
    at_ += 2;
    while (at_ + 1 < end_ && !(at_[0] == '*' && at_[1] == '/')) {
      if (*at_++ == '\n') new_line();
    }
    if (at_ + 1 >= end_) throw InputError(begin, "this '/*' has no '*/'");
    at_ += 2;
  }

  void skip_lines() {
    for (skip_blanks(); at_ != end_ && *at_ == '\n'; skip_blanks()) {
      ++at_;
      new_line();
    }
  }

  const char* at_after_blanks() {
    skip_blanks();
    return at_;
  }

  // The word at the current position, or "" if none stands there.
  std::string_view peek_word() {
    skip_blanks();
    const char* last = at_;
    if (last != end_ && is_word_start(*last)) {
      while (last != end_ && is_word(*last)) ++last;
    }
    return {at_, last};
  }
  std::string_view next_word() {
    const std::string_view word = peek_word();
    at_ += word.size();
    return word;
  }

  void expect_word(std::string_view word, const char* expected) {
    if (peek_word() != word) fail("found " + found() + "; expected " + expected);
    at_ += word.size();
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const std::string& where) {
    if (!accept(c)) fail("found " + found() + "; expected '" + std::string(1, c) + "' " + where);
  }
  void expect_end_of_line(const char* after) {
    skip_blanks();
    if (at_ != end_ && *at_ != '\n' && *at_ != '}') {
      fail("found " + found() + " after " + after + "; expected the end of the line");
    }
  }

  // Digits up to `max`. The caller looks at what follows.
  std::uint64_t digits(const char* expected, std::uint64_t max) {
    skip_blanks();
    const char* begin = at_;
    if (at_ == end_ || !is_digit(*at_)) fail("found " + found() + "; expected " + expected);
    std::uint64_t value = 0;
    bool overflow = false;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      overflow |= value > (kMax64 - digit) / 10;
      value = value * 10 + digit;
    }
    if (overflow || value > max) {
      const std::string text(begin, static_cast<std::size_t>(std::min<std::ptrdiff_t>(at_ - begin, 40)));
      fail_at(begin, text + " is too large; expected " + expected + " of at most " + std::to_string(max));
    }
    return value;
  }
  std::uint64_t number(const char* expected, std::uint64_t max) {
    const std::uint64_t value = digits(expected, max);
    if (at_ != end_ && (is_word_start(*at_) || *at_ == '.')) {
      fail("found " + found() + " behind a number; expected " + expected +
           " as a whole number without a unit");
    }
    return value;
  }
  // A number or -1 for "any".
  std::uint32_t number_or_any(const char* expected) {
    skip_blanks();
    if (end_ - at_ >= 2 && at_[0] == '-' && at_[1] == '1' && (end_ - at_ == 2 || !is_word(at_[2]))) {
      at_ += 2;
      return kAny;
    }
    return static_cast<std::uint32_t>(number(expected, kAny - 1));
  }
  void expect_byte_unit() {
    skip_blanks();
    if (at_ == end_ || *at_ != 'b' || (at_ + 1 != end_ && is_word(at_[1]))) {
      fail("found " + found() + "; expected 'b' behind a number of bytes");
    }
    ++at_;
  }
  std::uint64_t bytes() {
    const std::uint64_t value = digits("a number of bytes, as in '8b'", kMax64);
    expect_byte_unit();
    return value;
  }
  // "[1 2 3]b"
  std::vector<std::uint64_t> byte_list() {
    std::vector<std::uint64_t> counts;
    expect('[', "before a list of byte counts");
    while (!accept(']')) counts.push_back(number("a number of bytes or ']'", kMax64));
    expect_byte_unit();
    return counts;
  }
  // "[1 2 3]", ranks of a communicator
  std::vector<std::uint32_t> rank_list() {
    std::vector<std::uint32_t> ranks;
    expect('[', "before a list of ranks");
    while (!accept(']')) {
      ranks.push_back(static_cast<std::uint32_t>(number("a rank of the communicator or ']'", kAny - 1)));
    }
    return ranks;
  }
  // A name between double quotes, which begins here.
  std::string quoted() {
    const char* begin = at_++;
    std::string text;
    while (at_ != end_ && *at_ != '"' && *at_ != '\n') {
      if (*at_ != '\\') {
        text += *at_++;
        continue;
      }
      if (end_ - at_ >= 2 && (at_[1] == '"' || at_[1] == '\\')) {
        text += at_[1];
        at_ += 2;
      } else if (end_ - at_ >= 4 && at_[1] == 'x' && hex(at_[2]) >= 0 && hex(at_[3]) >= 0) {
        text += static_cast<char>(hex(at_[2]) * 16 + hex(at_[3]));
        at_ += 4;
      } else {
        fail("found a lone '\\' in a name; write \\\\, \\\" or \\xHH");
      }
    }
    if (at_ == end_ || *at_ == '\n') fail_at(begin, "this name has no closing '\"'");
    ++at_;
    return text;
  }
  static int hex(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }

  const char* at_;
  const char* end_;
  const char* line_begin_;
  std::int64_t line_ = 1;
  const std::string& file_name_;
};

}  // namespace weft::goal
