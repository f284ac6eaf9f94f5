#include "sim/results/sqlite_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace weft::results {
namespace {

thread_local int last_error = 0;

int failed(int code) {
  last_error = errno;
  return code;
}

struct File {
  sqlite3_file base;  // SQLite knows this alone
  int descriptor;
};
int descriptor_of(sqlite3_file* file) { return reinterpret_cast<File*>(file)->descriptor; }

int close_file(sqlite3_file* file) {
  return ::close(descriptor_of(file)) == 0 ? SQLITE_OK : failed(SQLITE_IOERR_CLOSE);
}

int read_file(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  auto* at = static_cast<char*>(to);
  std::size_t left = static_cast<std::size_t>(count);
  while (left > 0) {
    const ssize_t got = ::pread(descriptor_of(file), at, left, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(SQLITE_IOERR_READ);
    if (got == 0) {
      std::memset(at, 0, left);  // as SQLite wants it
      return SQLITE_IOERR_SHORT_READ;
    }
    at += got;
    offset += got;
    left -= static_cast<std::size_t>(got);
  }
  return SQLITE_OK;
}

int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  const auto* at = static_cast<const char*>(from);
  std::size_t left = static_cast<std::size_t>(count);
  while (left > 0) {
    const ssize_t put = ::pwrite(descriptor_of(file), at, left, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(SQLITE_IOERR_WRITE);
    at += put;
    offset += put;
    left -= static_cast<std::size_t>(put);
  }
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return ::ftruncate(descriptor_of(file), size) == 0 ? SQLITE_OK : failed(SQLITE_IOERR_TRUNCATE);
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  struct stat status {};
  if (::fstat(descriptor_of(file), &status) != 0) return failed(SQLITE_IOERR_FSTAT);
  *size = status.st_size;
  return SQLITE_OK;
}

int nothing(sqlite3_file*, int) { return SQLITE_OK; }
int not_locked(sqlite3_file*, int* locked) {
  *locked = 0;
  return SQLITE_OK;
}
int no_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
int no_characteristics(sqlite3_file*) { return 0; }

constexpr sqlite3_io_methods make_methods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_file;
  methods.xRead = read_file;
  methods.xWrite = write_file;
  methods.xTruncate = truncate_file;
  methods.xSync = nothing;
  methods.xFileSize = size_of_file;
  methods.xLock = nothing;
  methods.xUnlock = nothing;
  methods.xCheckReservedLock = not_locked;
  methods.xFileControl = no_control;
  methods.xSectorSize = sector_size;
  methods.xDeviceCharacteristics = no_characteristics;
  return methods;
}
constexpr sqlite3_io_methods kMethods = make_methods();

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  file->pMethods = nullptr;
  if (path == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  const int descriptor = ::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return failed(SQLITE_CANTOPEN);
  reinterpret_cast<File*>(file)->descriptor = descriptor;
  file->pMethods = &kMethods;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

// SQLite asks these of journals, of which there are none.
int delete_file(sqlite3_vfs*, const char*, int) { return SQLITE_OK; }
int no_such_file(sqlite3_vfs*, const char*, int, int* exists) {
  *exists = 0;
  return SQLITE_OK;
}

int same_path(sqlite3_vfs*, const char* path, int room, char* out) {
  const std::size_t length = std::strlen(path) + 1;
  if (std::cmp_greater(length, room)) return SQLITE_CANTOPEN;
  std::memcpy(out, path, length);
  return SQLITE_OK;
}

int error_number(sqlite3_vfs*, int, char*) { return last_error; }

}  // namespace

const char* sqlite_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* const usual = sqlite3_vfs_find(nullptr);
    if (usual == nullptr) throw std::bad_alloc();  // nothing else keeps it from starting
    sqlite3_vfs own = *usual;                      // clock and random numbers are the usual ones
    own.iVersion = 1;
    own.szOsFile = sizeof(File);
    own.mxPathname = 4096;
    own.pNext = nullptr;
    own.zName = "weft_results";
    own.xOpen = open_file;
    own.xDelete = delete_file;
    own.xAccess = no_such_file;
    own.xFullPathname = same_path;
    own.xGetLastError = error_number;
    return own;
  }();
  if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) throw std::bad_alloc();
  return vfs.zName;
}

int take_sqlite_error() { return std::exchange(last_error, 0); }

}  // namespace weft::results
