#include "goal/import/mpi/trace_chunks.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

bool read_exactly(std::ifstream& file, std::uint8_t* out, std::size_t bytes) {
  file.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(file.gcount()) == bytes;
}

}  // namespace

TraceChunks::TraceChunks(const std::string& path) : path_(path) {
  check_input(path);
  file_.open(path, std::ios::binary);
  if (!file_) {
    const int error = errno;
    if (error == ENOMEM) throw std::bad_alloc();
    throw InputError({path, 0, 0, -1}, std::string("cannot open this trace file: ") + std::strerror(error));
  }
  read_header();
}

void TraceChunks::read_header() {
  std::uint8_t head[16];
  if (!read_exactly(file_, head, sizeof head) ||
      std::memcmp(head, trace::kMagic, sizeof trace::kMagic) != 0) {
    throw InputError({path_, 0, 0, 0}, "not a trace file: expected it to begin with \"WEFTTRC\"");
  }
  header_.version = trace::get_u32(head + 8);
  if (header_.version < trace::kOldestVersion || header_.version > trace::kVersion) {
    throw InputError({path_, 0, 0, 8},
                     fmt::format("trace format version {}: this program reads versions {} to {}",
                                 header_.version, trace::kOldestVersion, trace::kVersion));
  }
  const std::uint32_t bytes = trace::get_u32(head + 12);
  if (bytes > 65536)
    throw InputError({path_, 0, 0, 12}, fmt::format("header of {} bytes: expected at most 65536", bytes));
  chunk_.resize(bytes + 4);
  if (!read_exactly(file_, chunk_.data(), chunk_.size()) ||
      trace::get_u32(chunk_.data() + bytes) != trace::checksum(chunk_.data(), bytes)) {
    throw InputError({path_, 0, 0, 16}, "the header is cut or damaged (its checksum does not hold)");
  }
  at_ = chunk_.data();
  chunk_end_ = at_ + bytes;
  header_.rank = static_cast<std::uint32_t>(varint_at_most(trace::kMaxMembers, "world rank"));
  header_.size = static_cast<std::uint32_t>(varint_at_most(trace::kMaxMembers, "world size"));
  if (header_.rank >= header_.size) fail(fmt::format("rank {} of {}", header_.rank, header_.size));
  header_.mpi_library = text();
  header_.host = text();
  header_.program = text();
  header_.clock = text();
  header_.clock_ns = varint();
  header_.epoch_ns = varint();
  next_chunk_ = 16 + bytes + 4;
  if (header_.version >= 2) {
    header_.process = varint();
    live_offset_ = trace::aligned(next_chunk_);
    next_chunk_ = live_offset_ + sizeof live_;
    read_live();
  }
  at_ = chunk_end_;
}

void TraceChunks::read_live() {
  static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");
  std::uint8_t bytes[sizeof live_];
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(live_offset_));
  if (!read_exactly(file_, bytes, sizeof bytes)) {
    throw InputError({path_, 0, 0, static_cast<std::int64_t>(live_offset_)},
                     "the file ends inside its live block");
  }
  std::memcpy(&live_, bytes, sizeof live_);
}

bool TraceChunks::stop(const char* why) {
  cut_ = fmt::format("{}, at byte {}", why, chunk_offset_);
  return false;
}

bool TraceChunks::next() {
  const bool last = open_;  // nothing is behind a chunk that was not finished
  chunk_offset_ = header_.version >= 2 ? trace::aligned(next_chunk_) : next_chunk_;
  if (last) {
    read_live();  // as of after the records, should the program be running
    return stop("the file ends without an end mark");
  }
  std::uint8_t head[trace::kChunkHeaderBytes];
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(chunk_offset_));
  file_.read(reinterpret_cast<char*>(head), sizeof head);
  const auto got = static_cast<std::size_t>(file_.gcount());
  if (got == 0) return stop("the file ends without an end mark");
  if (got < sizeof head) return stop("the file ends inside a chunk's header");
  const std::uint32_t bytes = trace::get_u32(head + 4), state = trace::get_u32(head + 12);
  // Room that was kept for the next chunk holds zeros.
  if (header_.version >= 2 && trace::get_u32(head) == 0) return stop("the file ends without an end mark");
  const bool known = header_.version < 2 || state == 0 || state == trace::kChunkOpen;
  if (trace::get_u32(head) != trace::kChunkMagic || bytes > trace::kMaxChunkBytes || !known)
    return stop("no chunk begins here");
  open_ = header_.version >= 2 && state == trace::kChunkOpen;
  if (!read_payload(bytes, open_)) return stop("the file ends inside a chunk");
  if (!open_ && trace::checksum(chunk_.data(), bytes) != trace::get_u32(head + 8))
    return stop("a chunk's checksum does not hold");
  const std::size_t payload = chunk_.size();
  next_chunk_ = chunk_offset_ + trace::kChunkHeaderBytes + payload;
  chunk_.resize(payload + 7);
  at_ = chunk_.data();
  chunk_end_ = at_ + payload;
  blank_ = bytes == 0;
  return true;
}

// Grown while reading, so that a damaged length cannot ask for more memory than the file has bytes. Of an
// open chunk what there is will do.
bool TraceChunks::read_payload(std::uint32_t bytes, bool open) {
  chunk_.clear();
  for (std::size_t have = 0; have < bytes;) {
    const std::size_t step = std::min<std::size_t>(bytes - have, std::size_t{4} << 20);
    chunk_.resize(have + step);
    if (!read_exactly(file_, chunk_.data() + have, step)) {
      chunk_.resize(have + static_cast<std::size_t>(file_.gcount()));
      return open;
    }
    have += step;
  }
  return true;
}

void TraceChunks::end_here(const char* why) {
  next_chunk_ = chunk_offset_ + trace::kChunkHeaderBytes + static_cast<std::size_t>(at_ - chunk_.data());
  stop(why);
}

std::uint64_t TraceChunks::varint_at_most(std::uint64_t most, const char* what) {
  const std::uint64_t value = varint();
  if (value > most) fail(fmt::format("{} {}: expected at most {}", what, value, most));
  return value;
}

std::int32_t TraceChunks::small_signed(const char* what) {
  const std::int64_t value = signed_varint();
  if (value < INT32_MIN || value > INT32_MAX) fail(fmt::format("{} {}: expected 32 bits", what, value));
  return static_cast<std::int32_t>(value);
}

std::string TraceChunks::text() {
  const std::uint64_t n = varint();
  const auto left = static_cast<std::uint64_t>(chunk_end_ - at_);  // behind that number
  if (n > left) fail(fmt::format("length of a text {}: expected at most {}", n, left));
  std::string value(reinterpret_cast<const char*>(at_), n);
  at_ += n;
  return value;
}

void TraceChunks::fail(const std::string& what) const {
  const std::int64_t head =
      chunk_offset_ == 0 ? 16 : static_cast<std::int64_t>(chunk_offset_ + trace::kChunkHeaderBytes);
  throw InputError({path_, 0, 0, head + (at_ - chunk_.data())}, what);
}

void TraceChunks::fail_at_last(const std::string& what) {
  --at_;
  fail(what);
}

}  // namespace weft::goal
