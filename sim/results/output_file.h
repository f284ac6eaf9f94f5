// A file of results, written as the run goes.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "sim/results/row.h"
#include "sim/units/part_file.h"

namespace weft::results {

// Gathers what is written and hands it to the system in large pieces. It is a part (part_file.h) until it is
// closed, or until ResultsFolder::begin() gives it its name. Every member throws InputError, with the path
// and the system's reason, if the file can't be written.
class OutputFile {
 public:
  // Creates the part, and the directories on the way to it. In a folder of results whatever has the file's
  // name is replaced; by others devices and pipes are written directly.
  explicit OutputFile(const std::string& path, PartFile::Special special = PartFile::Special::kReplace);
  // Removes the part of a file that was not closed; one that has its name keeps what was written so far.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  // As CSV.
  void write(const Row& row) {
    append_csv(buffer_, row);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append(format, fmt::make_format_args(args...));
  }
  // The end: from now on the file has its name, and nothing may be written any more.
  void close();

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;
  void flush();
  void append(fmt::string_view format, fmt::format_args args);

  PartFile file_;
  std::string buffer_;
};

}  // namespace weft::results
