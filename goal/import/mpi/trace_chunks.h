// The bytes of a trace file: its header, its chunks one after the other, and the values in them.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/mpi/trace_records.h"
#include "tracer/format/format.h"

namespace weft::goal {

// Values are read from the chunk at hand; one that is cut or beyond its limits throws InputError, which names
// the byte.
class TraceChunks {
 public:
  // Throws InputError if the file cannot be opened, is no trace, or has a version this reader does not know.
  explicit TraceChunks(const std::string& path);

  const TraceHeader& header() const { return header_; }
  // As of when the file was opened, or after the last chunk of a program that may still run.
  const trace::Live& live() const { return live_; }
  // The polls of its end, once.
  trace::PendingPolls take_polls() { return std::exchange(live_.polls, {}); }

  // Goes on to the next chunk; false if there is none that is whole: then cut() says why.
  bool next();
  // Nothing behind the last value counts any more.
  void end_here(const char* why);
  const std::string& cut() const { return cut_; }
  // Was the chunk still being written? Is there nothing in it?
  bool is_open() const { return open_; }
  bool is_blank() const { return blank_; }
  // Bytes of the file up to the end of the last chunk that counts.
  std::uint64_t used_bytes() const { return next_chunk_; }

  // Where in the chunk the next value is, and to go on elsewhere in it.
  std::size_t place() const { return static_cast<std::size_t>(at_ - chunk_.data()); }
  void go_to(std::size_t place) { at_ = chunk_.data() + place; }
  // Behind what is there, 7 more bytes can be read.
  const std::uint8_t* bytes_at(std::size_t place) const { return chunk_.data() + place; }

  bool at_end() const { return at_ == chunk_end_; }
  std::uint64_t left() const { return static_cast<std::uint64_t>(chunk_end_ - at_); }
  std::uint8_t byte() {
    if (at_end()) fail("a record that is cut");
    return *at_++;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!trace::get_varint(at_, chunk_end_, value)) fail("a number that is cut or too long");
    return value;
  }
  std::int64_t signed_varint() { return trace::unzigzag(varint()); }
  std::uint64_t varint_at_most(std::uint64_t most, const char* what);
  // Reads the length of a list, whose items have at least a byte each.
  std::uint64_t length(const char* what) { return varint_at_most(left(), what); }
  std::int32_t small_signed(const char* what);
  std::string text();

  [[noreturn]] void fail(const std::string& what) const;
  // Names the byte that was read last.
  [[noreturn]] void fail_at_last(const std::string& what);

 private:
  void read_header();
  void read_live();
  bool read_payload(std::uint32_t bytes, bool open);
  bool stop(const char* why);

  std::string path_;
  std::ifstream file_;
  TraceHeader header_;
  std::vector<std::uint8_t> chunk_;
  std::uint64_t chunk_offset_ = 0;  // of the chunk's header in the file
  std::uint64_t next_chunk_ = 0;    // where it ends
  bool open_ = false, blank_ = false;
  std::uint64_t live_offset_ = 0;
  trace::Live live_{};
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* chunk_end_ = nullptr;
  std::string cut_;
};

}  // namespace weft::goal
