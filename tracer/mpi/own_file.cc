#include "tracer/mpi/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

namespace weft::trace {

namespace {

// The last few numbers of the table that Linux gives every process. A higher one would make it grow, for
// which a process of several threads waits 10 ms and more.
constexpr rlim_t kHigh = 60;

// Puts the file behind a number that the program does not get for a file of its own soon.
int out_of_the_way(int descriptor) {
  if (descriptor < 0) return -1;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const rlim_t least = limit.rlim_cur > kHigh ? kHigh : limit.rlim_cur / 2;
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(least));
  if (high < 0) return descriptor;
  ::close(descriptor);
  return high;
}

// The program may change its folder later.
bool make_absolute(const char* path, char* absolute, std::size_t bytes) {
  std::size_t used = 0;
  if (*path != '/') {
    if (getcwd(absolute, bytes) == nullptr) return false;
    used = strlen(absolute);
    if (used + 1 < bytes) absolute[used++] = '/';
  }
  if (used + strlen(path) >= bytes) {
    errno = ENAMETOOLONG;
    return false;
  }
  strcpy(absolute + used, path);
  return true;
}

}  // namespace

bool OwnFile::create(const char* path) {
  if (!make_absolute(path, path_, sizeof path_)) return false;
  descriptor_ = out_of_the_way(::open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

bool OwnFile::is_ours(int descriptor) const {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return false;
  if (status.st_dev == device_ && status.st_ino == inode_) return true;
  errno = ESTALE;
  return false;
}

int OwnFile::reopen() {
  const int descriptor = out_of_the_way(::open(path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (descriptor < 0 || is_ours(descriptor)) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

int OwnFile::descriptor() {
  // Not ours any more: it is the program's to close.
  if (descriptor_ < 0 || !is_ours(descriptor_)) descriptor_ = reopen();
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return -1;
  if (status.st_nlink > 0) return descriptor_;
  errno = ENOENT;
  return -1;
}

void OwnFile::remove() { unlink(path_); }

bool OwnFile::close() {
  const bool good = descriptor_ < 0 || !is_ours(descriptor_) || ::close(descriptor_) == 0;
  descriptor_ = -1;
  return good;
}

}  // namespace weft::trace
