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
  // Several, without a store of `at_` and a wait for it between each two. Those with a sign as zigzag().
  template <class... Values>
  void numbers(Values... values) {
    std::uint8_t* at = at_;
    ((at = put_varint(at, values)), ...);
    at_ = at;
  }
  void text(const char* value, std::size_t bytes);

  // The record of a call up to its fields. `gap_ns`: from where the last one's call was left to where this
  // one was entered. `error`: 0 if there was none.
  void begin_call(Function function, std::int64_t gap_ns, std::uint64_t inside_ns, int error) {
    if (error != 0) {
      byte(static_cast<std::uint8_t>(Meta::kFailure));
      signed_number(error);
    }
    if (gap_ns < 0) {
      byte(static_cast<std::uint8_t>(Meta::kOverlap));
      number(static_cast<std::uint64_t>(-gap_ns));
      gap_ns = 0;
    }
    call_ = static_cast<std::uint32_t>(at_ - begin_);
    const auto which = static_cast<unsigned>(function);
    const bool is_long = which >= kFirstLongNumber;
    numbers(is_long ? kLongNumber : which, static_cast<std::uint64_t>(gap_ns), inside_ns);
    fields_ = static_cast<std::uint32_t>(at_ - begin_);
    if (is_long) number(which - kFirstLongNumber);
  }
  // Leaves them out where an earlier record of the chunk has the same. What is put now, as it never is the
  // same, stands behind them.
  void end_fields() {
    const std::uint32_t begin = fields_;
    if (begin == 0) return;
    fields_ = 0;
    const std::uint8_t* fields = begin_ + begin;
    const auto bytes = static_cast<std::uint32_t>(at_ - fields);
    if (bytes > kMostKept) return;
    std::uint8_t& first = begin_[call_];
    const std::size_t number = slot_of(first, fields, bytes);
    Slot& slot = slots_[number];
    if (slot.bytes == bytes && slot.first == first && same(begin_ + slot.fields, fields, bytes)) {
      at_ = begin_ + begin;
      first = static_cast<std::uint8_t>(kRepeats | number);
    } else {
      slot = {begin, bytes, first};
    }
  }

  // What was put until now is part of the file from here on, whatever becomes of the process.
  void commit() {
    end_fields();
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
  // Where in the chunk fields stand that can be left out in other records.
  struct Slot {
    std::uint32_t fields, bytes;
    std::uint8_t first;  // byte of the record
  };
  static bool same(const std::uint8_t* a, const std::uint8_t* b, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 8) {
      if (get_word(a + at, bytes - at) != get_word(b + at, bytes - at)) return false;
    }
    return true;
  }
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
  // From begin_ on: the call whose record is put, and its fields until they end; else 0.
  std::uint32_t call_ = 0, fields_ = 0;
  Slot slots_[kSlots] = {};
  Live* live_ = nullptr;
  OwnFile file_;
  bool failed_ = false;
};

}  // namespace weft::trace
