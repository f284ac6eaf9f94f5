#include "sim/results/results_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "goal/file.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

constexpr const char* kLockFile = ".weft.lock";

// Guards the folder in use, and what of it note_end_of_run() changes. Held for single steps only.
std::mutex mutex;
ResultsFolder* in_use = nullptr;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw InputError(fmt::format("{}: {}: {}", path, what, std::strerror(error)));
}

void remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
  fail(path, "can't remove what an earlier run left here", errno);
}

// Is the file that was opened still the one of this name? The run before may have removed it meanwhile.
bool is_at(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// " (process 1234)" if the one who has the lock wrote its number there.
std::string holder(int descriptor) {
  char text[32] = {};
  if (::pread(descriptor, text, sizeof text - 1, 0) <= 0) return "";
  const long process = std::strtol(text, nullptr, 10);
  return process > 0 ? fmt::format(" (process {})", process) : "";
}

}  // namespace

std::string part_path(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / ("." + whole.filename().string() + ".part")).string();
}

void note_end_of_run(std::string_view reason) noexcept {
  const std::lock_guard guard(mutex);
  if (in_use == nullptr || in_use->state_ != ResultsFolder::State::kBegun) return;
  try {
    in_use->reasons_.emplace_back(reason);
    (void)in_use->write_marker();    // the one that is there says enough
  } catch (const std::exception&) {  // out of memory: the same
  }
}

ResultsFolder::ResultsFolder(std::string path, std::vector<std::string> files, Lock lock)
    : path_(std::move(path)), lock_path_(file(kLockFile)), files_(std::move(files)) {
  std::error_code error;
  created_ = std::filesystem::create_directories(path_, error);
  if (error) fail(path_, "can't create this directory", error.value());
  try {
    if (::access(path_.c_str(), W_OK | X_OK) != 0) fail(path_, "can't write in this directory", errno);
    take_lock(lock != nullptr ? lock : ::flock);
    for (const std::string& name : files_) remove(part_path(file(name)));
    remove(part_path(file(kIncompleteMarker)));
  } catch (...) {
    leave();
    throw;
  }
  const std::lock_guard guard(mutex);
  in_use = this;
}

ResultsFolder::~ResultsFolder() {
  {
    const std::lock_guard guard(mutex);
    in_use = nullptr;
  }
  leave();
}

void ResultsFolder::leave() {
  if (lock_ >= 0) {  // removed before it is let go, so that nobody takes the lock of a file that goes
    ::unlink(lock_path_.c_str());
    ::close(lock_);
  }
  if (created_ && state_ == State::kWaiting) ::rmdir(path_.c_str());  // fails unless it is empty
}

void ResultsFolder::take_lock(Lock lock) {
  do {
    if (lock_ >= 0) ::close(lock_);
    lock_ = ::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) fail(path_, "can't write in this directory", errno);
    int error = 0;
    while (lock(lock_, LOCK_EX | LOCK_NB) != 0 && (error = errno) == EINTR) {
    }
    if (error == EWOULDBLOCK) {
      const std::string other = holder(lock_);
      ::close(lock_);
      lock_ = -1;
      throw InputError(fmt::format(
          "{}: another run{} is writing its results to this folder; wait for its end, or choose another",
          path_, other));
    }
    // Any other error: a file system without locks.
  } while (!is_at(lock_, lock_path_));
  // Only for the message above: without it the lock does its work too.
  if (::ftruncate(lock_, 0) == 0) (void)goal::write_whole(lock_, fmt::format("{}\n", ::getpid()));
}

bool ResultsFolder::write_marker() const {
  std::string text = fmt::format(
      "The results in this folder are not complete. A run (weft, process {}) is writing here, or it failed, "
      "or\n"
      "was stopped or killed before it had finished. Do not rely on the other files; the next run that "
      "writes\n"
      "here replaces them.\n",
      ::getpid());
  for (const std::string& reason : reasons_) text += fmt::format("How it ended: {}\n", reason);
  // In one step, so that a marker that is there already is never gone or empty.
  const std::string marker = file(kIncompleteMarker), part = part_path(marker);
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  bool written = goal::write_whole(descriptor, text);
  int error = errno;
  if (::close(descriptor) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && ::rename(part.c_str(), marker.c_str()) == 0) return true;
  if (written) error = errno;
  ::unlink(part.c_str());
  errno = error;
  return false;
}

void ResultsFolder::begin() {
  {
    const std::lock_guard guard(mutex);
    if (state_ == State::kBegun) return;
    reasons_.clear();
    if (!write_marker()) fail(file(kIncompleteMarker), "can't write this file", errno);
    state_ = State::kBegun;
  }
  for (const std::string& name : files_) {
    const std::string path = file(name), part = part_path(path);
    remove(path);
    if (::rename(part.c_str(), path.c_str()) != 0 && errno != ENOENT) {
      fail(path, "can't write this file", errno);
    }
  }
}

void ResultsFolder::complete() {
  const std::lock_guard guard(mutex);
  const std::string marker = file(kIncompleteMarker);
  if (::unlink(marker.c_str()) != 0 && errno != ENOENT) fail(marker, "can't remove this file", errno);
  state_ = State::kComplete;
}

void ResultsFolder::failed(std::string_view reason) noexcept { note_end_of_run(reason); }

}  // namespace weft::results
