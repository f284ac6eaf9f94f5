// A file read once from front to back in pieces, unpacked on the way if it is compressed with gzip.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {

// Holds one piece of the file. Positions are those of the unpacked text.
class ByteStream {
 public:
  // Throws InputError if the file can't be opened.
  explicit ByteStream(const std::string& path);
  // Takes a text in memory; `name` stands for its path in messages.
  ByteStream(std::string_view text, const std::string& name);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // The next byte, or 0 at the end of the file.
  char peek() {
    if (next_ == end_ && !refill()) return '\0';
    return *next_;
  }
  char take() {
    if (next_ == end_ && !refill()) return '\0';
    return *next_++;
  }
  bool at_end() { return next_ == end_ && !refill(); }
  // Copies up to `bytes` bytes; returns how many there were.
  std::size_t read(char* to, std::size_t bytes);

  std::uint64_t position() const { return base_ + static_cast<std::uint64_t>(next_ - begin_); }
  // The line of the next byte, counted from 1. Takes time for what was read since the last call only.
  std::int64_t line();
  // File, line and byte of the next byte.
  SourceLocation location();
  const std::string& path() const { return path_; }

 private:
  // Throws InputError for a damaged or shortened gzip file.
  bool refill();

  std::string path_;
  gzFile file_ = nullptr;
  std::vector<char> buffer_;
  const char *begin_ = nullptr, *next_ = nullptr, *end_ = nullptr;
  const char* counted_ = nullptr;  // lines are counted up to here
  std::uint64_t base_ = 0;         // position of begin_
  std::int64_t lines_ = 0;         // ends of lines before counted_
};

}  // namespace weft::goal
