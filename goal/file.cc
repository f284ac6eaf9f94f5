#include "goal/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

[[noreturn]] void fail_open(const std::string& path, const std::string& reason) {
  throw InputError(SourceLocation{.file = path}, "can't read the file: " + reason);
}

}  // namespace

bool write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

FileView::FileView(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_open(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
    ::close(fd);
    fail_open(path, S_ISDIR(status.st_mode) ? "it is a folder" : "its size is not known");
  }
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {  // some never end
    ::close(fd);
    fail_open(path, "it is a device");
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = errno;
    ::close(fd);
    if (address == MAP_FAILED) fail_open(path, std::strerror(error));
    ::madvise(address, size_, MADV_SEQUENTIAL);
    data_ = static_cast<const char*>(address);
    mapped_ = true;
    return;
  }
  constexpr std::size_t kStep = 1 << 20;
  std::size_t used = 0;
  while (true) {
    copy_.resize(used + kStep);
    const ssize_t got = ::read(fd, copy_.data() + used, kStep);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      ::close(fd);
      fail_open(path, std::strerror(error));
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  ::close(fd);
  data_ = copy_.data();
  size_ = used;
}

FileView::~FileView() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

FileWriter::FileWriter(const std::string& path) : path_(path) {
  struct stat status {};
  const bool direct = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (!direct) temporary_ = path + ".partial";
  buffer_.reserve(kBufferBytes);
  file_ = ::open(direct ? path.c_str() : temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("can't create the file");
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void FileWriter::write(std::string_view bytes) {
  written_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() < kBufferBytes) {
    buffer_ += bytes;
  } else if (!write_whole(file_, bytes)) {
    fail("can't write the file");
  }
}

void FileWriter::flush() {
  if (!write_whole(file_, buffer_)) fail("can't write the file");
  buffer_.clear();
}

void FileWriter::commit() {
  flush();
  const int file = file_;
  file_ = -1;
  const bool closed = ::close(file) == 0;
  if (closed && (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0)) return;
  const int error = errno;
  if (!temporary_.empty()) std::remove(temporary_.c_str());
  errno = error;
  fail("can't write the file");
}

void FileWriter::fail(const char* what) const {
  const int error = errno;
  throw InputError(SourceLocation{.file = path_}, std::string(what) + ": " + std::strerror(error));
}

}  // namespace weft::goal
