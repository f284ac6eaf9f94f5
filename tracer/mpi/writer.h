// The growing end of a trace file: a buffer of encoded records, written out chunk by chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/format/format.h"

namespace weft::trace {

// Appends bytes to the current chunk. Not thread-safe: the tracer holds its lock.
class Writer {
 public:
  // Bytes after which a chunk is written out.
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

  // Makes room for `bytes` more, which then may be put without further checks. False if there is no memory.
  bool reserve(std::size_t bytes) {
    return static_cast<std::size_t>(capacity_ - at_) >= bytes || grow(bytes);
  }
  void byte(std::uint8_t value) { *at_++ = value; }
  void number(std::uint64_t value) { at_ = put_varint(at_, value); }
  void signed_number(std::int64_t value) { at_ = put_signed(at_, value); }
  void text(const char* value, std::size_t bytes);

  bool empty() const { return at_ == begin_; }
  bool full() const { return static_cast<std::size_t>(at_ - begin_) >= kChunkBytes; }
  // Opens DIRECTORY/rank-000007.wtrc (or, where that exists, rank-000007.2.wtrc and so on) for writing.
  // False, with errno, if it cannot.
  bool open(const char* directory, int rank);
  // The same with another name than rank-000007.
  bool open(const char* directory, const char* name);
  bool is_open() const { return file_ >= 0; }
  // Takes what is in the buffer for the file's header and writes it. False, with errno, on failure.
  bool write_header();
  // Writes what is in the buffer as one chunk and empties it. False, with errno, on failure.
  bool write_chunk();
  // False, with errno, if the system had kept an error of what was written until now.
  bool close();

 private:
  bool grow(std::size_t bytes);
  bool write_all(const std::uint8_t* data, std::size_t bytes);

  // The chunk's header goes before begin_, so that one write does it.
  std::uint8_t* memory_ = nullptr;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
  std::uint8_t* capacity_ = nullptr;
  int file_ = -1;
};

}  // namespace weft::trace
