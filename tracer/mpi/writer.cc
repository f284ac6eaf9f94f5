#include "tracer/mpi/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace weft::trace {

namespace {
constexpr std::size_t kHeadRoom = 16;  // the chunk header, and as much of the file header
static_assert(kHeadRoom == kChunkHeaderBytes && kHeadRoom == sizeof kMagic + 8);
}  // namespace

bool Writer::grow(std::size_t bytes) {
  const std::size_t used = memory_ == nullptr ? kHeadRoom : static_cast<std::size_t>(at_ - memory_);
  std::size_t size = memory_ == nullptr ? kHeadRoom + kChunkBytes + 65536
                                        : 2 * static_cast<std::size_t>(capacity_ - memory_);
  if (size < used + bytes) size = used + bytes;
  auto* memory = static_cast<std::uint8_t*>(realloc(memory_, size));
  if (memory == nullptr) return false;
  memory_ = memory;
  begin_ = memory + kHeadRoom;
  at_ = memory + used;
  capacity_ = memory + size;
  return true;
}

void Writer::text(const char* value, std::size_t bytes) {
  number(bytes);
  memcpy(at_, value, bytes);
  at_ += bytes;
}

bool Writer::open(const char* directory, int rank) {
  char name[32];
  snprintf(name, sizeof name, "rank-%06d", rank);
  return open(directory, name);
}

bool Writer::open(const char* directory, const char* name) {
  char path[4096];
  // A second program traced into the same folder must not destroy the first one's files.
  for (int attempt = 1; attempt <= 1000; ++attempt) {
    char suffix[16] = "";
    if (attempt > 1) snprintf(suffix, sizeof suffix, ".%d", attempt);
    const int length = snprintf(path, sizeof path, "%s/%s%s.wtrc", directory, name, suffix);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) {
      errno = ENAMETOOLONG;
      return false;
    }
    file_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file_ >= 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

bool Writer::write_header() {
  const auto bytes = static_cast<std::uint32_t>(at_ - begin_);
  if (!reserve(4)) return false;
  put_u32(at_, checksum(begin_, bytes));
  at_ += 4;
  memcpy(memory_, kMagic, sizeof kMagic);
  put_u32(memory_ + 8, kVersion);
  put_u32(memory_ + 12, bytes);
  const bool written = write_all(memory_, static_cast<std::size_t>(at_ - memory_));
  at_ = begin_;
  return written;
}

bool Writer::write_chunk() {
  const auto bytes = static_cast<std::uint32_t>(at_ - begin_);
  put_u32(memory_, kChunkMagic);
  put_u32(memory_ + 4, bytes);
  put_u32(memory_ + 8, checksum(begin_, bytes));
  put_u32(memory_ + 12, 0);
  const bool written = write_all(memory_, kChunkHeaderBytes + bytes);
  at_ = begin_;
  return written;
}

bool Writer::write_all(const std::uint8_t* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file_, data, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool Writer::close() {
  const bool closed = file_ < 0 || ::close(file_) == 0;
  file_ = -1;
  free(memory_);
  memory_ = begin_ = at_ = capacity_ = nullptr;
  return closed;
}

}  // namespace weft::trace
