// A file of results, written as the run goes.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace weft::results {

// Gathers what is written and hands it to the system in large pieces. Every member throws InputError, with
// the path and the system's reason, if the file can't be written.
class OutputFile {
 public:
  // Creates or empties the file, and the directories on the way to it.
  explicit OutputFile(std::string path);
  // Keeps what was written, but can't say if that failed: see close().
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append(format, fmt::make_format_args(args...));
  }
  // Hands everything to the system now, so that others can read it.
  void flush();
  // The end; nothing may be written afterwards.
  void close();

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;
  void append(fmt::string_view format, fmt::format_args args);
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::FILE* file_ = nullptr;
  std::string buffer_;
};

}  // namespace weft::results
