#include "sim/results/results_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

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

// A file that has this one name: what is written to it can't be somebody else's.
bool is_ours(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

// " (process 1234)" if the one who has the lock wrote its number there.
std::string holder(int descriptor) {
  char text[32] = {};
  if (::pread(descriptor, text, sizeof text - 1, 0) <= 0) return "";
  const long process = std::strtol(text, nullptr, 10);
  return process > 0 ? fmt::format(" (process {})", process) : "";
}

}  // namespace

void note_end_of_run(std::string_view reason) noexcept {
  const std::lock_guard guard(mutex);
  if (in_use == nullptr || in_use->state_ != ResultsFolder::State::kBegun) return;
  try {
    in_use->reasons_.emplace_back(reason);
    in_use->write_marker();
  } catch (const std::exception&) {  // the one that is there says enough
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
    for (const std::string& name : files_) end_output(note_output(file(name)));  // unless it is an input
    remove_parts();
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

void ResultsFolder::remove_parts() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    const std::string part = entry.path().filename().string();
    const auto made = [&part](const std::string& name) { return is_part_of(part, name); };
    if (made(kIncompleteMarker) || std::any_of(files_.begin(), files_.end(), made)) remove(file(part));
  }
}

void ResultsFolder::leave() {
  if (lock_ >= 0) {  // removed before it is let go, so that nobody takes the lock of a file that goes
    ::unlink(lock_path_.c_str());
    lock_removed_.reset();
    ::close(lock_);
  }
  if (created_ && state_ == State::kWaiting) ::rmdir(path_.c_str());  // fails unless it is empty
}

void ResultsFolder::take_lock(Lock lock) {
  do {
    if (lock_ >= 0) ::close(lock_);
    lock_ = ::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (lock_ < 0) fail(lock_path_, "can't lock this directory", errno);
    if (!is_ours(lock_)) {
      ::close(std::exchange(lock_, -1));
      throw InputError(fmt::format("{}: this is no lock file that a run left; remove it", lock_path_));
    }
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
  lock_removed_.emplace(lock_path_);
  // Only for the message above: without it the lock does its work too.
  if (::ftruncate(lock_, 0) == 0) (void)goal::write_whole(lock_, fmt::format("{}\n", ::getpid()));
}

void ResultsFolder::write_marker() const {
  std::string text = fmt::format(
      "The results in this folder are not complete. A run (weft, process {}) is writing here, or it failed, "
      "or\n"
      "was stopped or killed before it had finished. Do not rely on the other files; the next run that "
      "writes\n"
      "here replaces them.\n",
      ::getpid());
  for (const std::string& reason : reasons_) text += fmt::format("How it ended: {}\n", reason);
  // In one step, so that a marker that is there already is never gone or empty.
  PartFile marker(file(kIncompleteMarker), PartFile::Special::kReplace);
  if (!goal::write_whole(marker.descriptor(), text)) marker.fail(errno);
  marker.commit();
}

void ResultsFolder::begin() {
  {
    const std::lock_guard guard(mutex);
    if (state_ == State::kBegun) return;
    reasons_.clear();
    write_marker();
    state_ = State::kBegun;
  }
  for (const std::string& name : files_) {
    const std::string path = file(name);
    remove(path);
    (void)name_part(path);
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
