// The growing end of a trace file: a shared mapping of it, so that what was put survives the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/format/format.h"
#include "tracer/mpi/own_file.h"

namespace weft::trace {

// Appends bytes to the current chunk. Not thread-safe: the tracer holds its lock.
class Writer {
 public:
  // Bytes after which a chunk is finished.
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

  // Makes room for `bytes` more, which then may be put without further checks. False, with errno, if there is
  // none on the disk; then nothing put since the last commit() gets into the file, and no room is found
  // again.
  bool reserve(std::size_t bytes) {
    return static_cast<std::size_t>(capacity_ - at_) >= bytes || grow(bytes);
  }
  bool failed() const { return failed_; }
  void byte(std::uint8_t value) { *at_++ = value; }
  void number(std::uint64_t value) { at_ = put_varint(at_, value); }
  void signed_number(std::int64_t value) { at_ = put_signed(at_, value); }
  void text(const char* value, std::size_t bytes);

  // What was put until now is part of the file from here on, whatever becomes of the process.
  void commit() {
    const auto bytes = static_cast<std::uint32_t>(at_ - begin_);
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(begin_ - kChunkHeaderBytes + 4), bytes,
                     __ATOMIC_RELEASE);
  }
  bool full() const { return static_cast<std::size_t>(at_ - begin_) >= kChunkBytes; }

  // Opens DIRECTORY/rank-000007.wtrc (or, where that exists, rank-000007.2.wtrc and so on) for writing.
  // False, with errno, if it cannot.
  bool open(const char* directory, int rank);
  // Opens a file with another name than rank-000007.
  bool open(const char* directory, const char* name);
  // Takes what was put for the file's header, and begins the first chunk. False, with errno, on failure; the
  // file is then removed if it has no header.
  bool write_header();
  // The live block. Mapped as long as the process lives, for other threads may be writing there at any time.
  Live* live() { return live_; }
  // Finishes the chunk and begins another. False, with errno, where there is no room for one.
  bool next_chunk();
  // Ends the file behind what was committed. False, with errno, if the system had an error to tell.
  bool finish(End reason);

 private:
  bool allocate(std::uint64_t from, std::uint64_t to);
  bool grow(std::size_t bytes);
  bool begin_chunk(std::uint64_t offset);
  void finish_chunk();

  // The mapped part of the file, or until there is a header, memory.
  std::uint8_t* window_ = nullptr;
  std::size_t window_bytes_ = 0;
  std::uint64_t window_offset_ = 0;  // in the file
  std::uint8_t* begin_ = nullptr;    // of the chunk's payload
  std::uint8_t* at_ = nullptr;
  std::uint8_t* capacity_ = nullptr;
  Live* live_ = nullptr;
  OwnFile file_;
  bool failed_ = false;
};

}  // namespace weft::trace
