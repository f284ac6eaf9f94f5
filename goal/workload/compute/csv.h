// Reads a table of words and positive numbers separated by commas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {

// The first line that isn't a comment ('#') names the columns, in any order; others than the wanted are
// skipped. The text must outlive the reader. All errors are InputErrors with file and line.
class CsvReader {
 public:
  // Throws if one of `wanted` is missing.
  CsvReader(std::string_view text, std::string file_name, std::vector<std::string> wanted);
  // Goes to the next row; false at the end. Throws if it has another number of cells than the header.
  bool next();
  // Returns the cell of this row. The column must be one of those wanted.
  std::string_view text(std::string_view column) const;
  // Throws if the cell is no finite number above 0.
  double number(std::string_view column) const;
  [[noreturn]] void fail(const std::string& message) const;
  // What stands behind the '#' of the comments before the header.
  const std::vector<std::string>& comments() const { return comments_; }

 private:
  bool next_line();

  std::string_view rest_, line_;
  std::int64_t line_number_ = 0;
  std::string file_name_;
  std::vector<std::string> columns_, comments_;
  std::vector<std::string_view> cells_;
};

}  // namespace weft::goal
