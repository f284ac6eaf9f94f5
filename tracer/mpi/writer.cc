#include "tracer/mpi/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace weft::trace {

namespace {

constexpr std::uint64_t kPage = 4096;
// The file is made longer, and mapped, in steps of this: small beside a chunk, as there may be many ranks.
constexpr std::size_t kStep = std::size_t{128} << 10;
// Kept free behind each chunk for its end record, and so that slot_of() can read there.
constexpr std::size_t kEndRoom = 16;
constexpr std::size_t kHeadBytes = sizeof kMagic + 8;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Writes zeros. A limit on files' sizes would end the program by a signal, which is taken here.
bool write_zeros(int file, std::uint64_t from, std::uint64_t to) {
  static const std::uint8_t zeros[64 << 10] = {};
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  int error = 0;
  while (from < to && error == 0) {
    const std::uint64_t left = to - from;
    const ssize_t written =
        pwrite(file, zeros, left < sizeof zeros ? left : sizeof zeros, static_cast<off_t>(from));
    if (written > 0) from += static_cast<std::uint64_t>(written);
    if (written == 0) error = ENOSPC;
    if (written < 0 && errno != EINTR) error = errno;
  }
  if (error == EFBIG && sigismember(&before, SIGXFSZ) == 0) {
    const timespec none{};
    sigtimedwait(&limit, nullptr, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return error == 0;
}

}  // namespace

// Has the system find room for these bytes: a store to a mapped page that turned out to have none would end
// the program. Zeros are written, as memory that was only promised (fallocate) costs many times more to touch
// first, and not every file system can.
bool Writer::allocate(std::uint64_t from, std::uint64_t to) {
  const int file = file_.descriptor();
  return file >= 0 && write_zeros(file, from, to);
}

bool Writer::grow(std::size_t bytes) {
  if (failed_) return false;
  const auto used = static_cast<std::size_t>(at_ - window_);
  const auto begin = static_cast<std::size_t>(begin_ - window_);
  const std::size_t size = pages(used + bytes + kEndRoom + kStep);
  std::uint8_t* window;
  if (live_ == nullptr) {
    window = static_cast<std::uint8_t*>(realloc(window_, size));
    failed_ = window == nullptr;
  } else {
    failed_ = !allocate(window_offset_ + window_bytes_, window_offset_ + size);
    if (failed_) return false;
    window = static_cast<std::uint8_t*>(mremap(window_, window_bytes_, size, MREMAP_MAYMOVE));
    failed_ = window == MAP_FAILED;
  }
  if (failed_) return false;
  window_ = window;
  window_bytes_ = size;
  begin_ = window + begin;
  at_ = window + used;
  capacity_ = window + size - kEndRoom;
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
    if (file_.create(path)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

bool Writer::write_header() {
  const auto bytes = static_cast<std::uint32_t>(at_ - window_);
  const std::uint64_t live = aligned(kHeadBytes + bytes + 4);
  const std::uint64_t first_chunk = live + sizeof(Live);
  if (!allocate(0, first_chunk)) {
    const int error = errno;
    file_.remove();
    errno = error;
    return false;
  }
  void* head = mmap(nullptr, first_chunk, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor(), 0);
  if (head == MAP_FAILED) return false;
  auto* at = static_cast<std::uint8_t*>(head);
  put_u32(at + 8, kVersion);
  put_u32(at + 12, bytes);
  memcpy(at + kHeadBytes, window_, bytes);
  put_u32(at + kHeadBytes + bytes, checksum(window_, bytes));
  memcpy(at, kMagic, sizeof kMagic);
  free(window_);
  window_ = begin_ = nullptr;
  live_ = reinterpret_cast<Live*>(at + live);
  return begin_chunk(first_chunk);
}

bool Writer::begin_chunk(std::uint64_t offset) {
  const std::uint64_t page = offset / kPage * kPage;
  const std::size_t size = pages(offset - page + kChunkHeaderBytes + kStep);
  // The page it begins on is there already, but for the first chunk.
  const std::uint64_t there = window_ != nullptr ? window_offset_ + window_bytes_ : offset;
  if (there < page + size && !allocate(there, page + size)) return false;
  void* window =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor(), static_cast<off_t>(page));
  if (window == MAP_FAILED) return false;
  // Not before the new one stands: without it, this chunk gets the end record.
  if (begin_ != nullptr) finish_chunk();
  if (window_ != nullptr) munmap(window_, window_bytes_);
  window_ = static_cast<std::uint8_t*>(window);
  window_bytes_ = size;
  window_offset_ = page;
  begin_ = at_ = window_ + (offset - page) + kChunkHeaderBytes;
  capacity_ = window_ + size - kEndRoom;
  fields_ = 0;
  memset(slots_, 0, sizeof slots_);
  std::uint8_t* header = begin_ - kChunkHeaderBytes;
  put_u32(header + 4, 0);
  put_u32(header + 8, 0);
  put_u32(header + 12, kChunkOpen);
  put_u32(header, kChunkMagic);
  return true;
}

void Writer::finish_chunk() {
  std::uint8_t* header = begin_ - kChunkHeaderBytes;
  commit();
  put_u32(header + 8, checksum(begin_, static_cast<std::size_t>(at_ - begin_)));
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(header + 12), 0u, __ATOMIC_RELEASE);
}

bool Writer::next_chunk() {
  const std::uint64_t end = window_offset_ + static_cast<std::uint64_t>(at_ - window_);
  failed_ = failed_ || !begin_chunk(aligned(end));
  return !failed_;
}

bool Writer::finish(End reason) {
  at_ = begin_ + get_u32(begin_ - kChunkHeaderBytes + 4);
  fields_ = 0;
  byte(static_cast<std::uint8_t>(Meta::kEnd));
  number(static_cast<std::uint64_t>(reason));
  finish_chunk();
  const std::uint64_t end = window_offset_ + static_cast<std::uint64_t>(at_ - window_);
  munmap(window_, window_bytes_);
  window_ = begin_ = at_ = capacity_ = nullptr;
  const int file = file_.descriptor();
  int error = file >= 0 && ftruncate(file, static_cast<off_t>(end)) == 0 ? 0 : errno;
  if (!file_.close()) error = errno;
  errno = error;
  return error == 0;
}

}  // namespace weft::trace
