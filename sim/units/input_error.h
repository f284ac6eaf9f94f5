// The one error for input that the user can mend: a file, a flag, a scenario.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft {

// Where in an input something is wrong. Lines and columns count from 1; 0 means "not known".
struct SourceLocation {
  std::string file;  // path, or "" for a command line
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::int64_t byte_offset = -1;  // for binary files; -1 means "not known"

  // "FILE:LINE:COLUMN: ", "FILE: byte N: " or "" when nothing is known.
  std::string prefix() const {
    std::string text = file;
    if (line > 0) text += ":" + std::to_string(line);
    if (line > 0 && column > 0) text += ":" + std::to_string(column);
    if (byte_offset >= 0) text += (text.empty() ? "byte " : ": byte ") + std::to_string(byte_offset);
    return text.empty() ? text : text + ": ";
  }
};

// Thrown for bad input. `what()` is the one message the user sees: location, what was found, what was
// expected. main() prints it and exits with status 2; nothing else may print it.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(whole(message)) {}
  InputError(SourceLocation location, const std::string& message)
      : std::runtime_error(whole(location.prefix() + message)), location_(std::move(location)) {}
  const SourceLocation& location() const { return location_; }

 private:
  // what() ends at the first byte 0, which a message that quotes a binary file may have.
  static std::string whole(const std::string& message) {
    std::string text;
    for (const char c : message) {
      if (c == '\0') {
        text += "\\x00";
      } else {
        text += c;
      }
    }
    return text;
  }

  SourceLocation location_;
};

}  // namespace weft
