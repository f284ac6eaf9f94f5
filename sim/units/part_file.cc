#include "sim/units/part_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

#include "sim/units/input_error.h"

namespace weft {

namespace internal {

// Slots are never freed, but used again: a signal may come at any time, and its handler goes through them.
struct PartSlot {
  std::atomic<bool> to_be_removed = false;
  std::array<char, PATH_MAX> part{};
  PartSlot* next = nullptr;
  // The rest is guarded by the mutex, and nothing for handlers.
  bool taken = false, left = false;
  std::string path;
};

}  // namespace internal

namespace {

using internal::PartSlot;

constexpr std::string_view kEnding = ".part";
constexpr std::size_t kRandomDigits = 16;
constexpr std::size_t kMostOfName = 200;  // of the 255 bytes that file systems allow
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};

std::mutex mutex;
std::atomic<PartSlot*> slots = nullptr;

PartSlot* find(const std::string& path) {
  for (PartSlot* slot = slots; slot != nullptr; slot = slot->next) {
    if (slot->taken && slot->path == path) return slot;
  }
  return nullptr;
}

PartSlot* take_slot(const std::string& path) {
  const std::lock_guard lock(mutex);
  PartSlot* slot = slots;
  while (slot != nullptr && slot->taken) slot = slot->next;
  if (slot == nullptr) {
    slot = new PartSlot;
    slot->next = slots;
    slots = slot;
  }
  slot->path = path;
  slot->left = false;
  slot->taken = true;
  return slot;
}

void give_back(PartSlot* slot) noexcept {
  const std::lock_guard lock(mutex);
  slot->to_be_removed = false;
  slot->taken = false;
}

void remove_and_give_back(PartSlot* slot) noexcept {
  if (slot->to_be_removed) ::unlink(slot->part.data());
  give_back(slot);
}

// .NAME.0123456789abcdef.part, beside the file.
std::string part_name(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return "";
  std::array<char, kRandomDigits + 1> digits{};
  (void)std::snprintf(digits.data(), digits.size(), "%016lx", static_cast<unsigned long>(number));
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string().substr(0, kMostOfName);
  return (whole.parent_path() / ("." + name + "." + digits.data() + std::string(kEnding))).string();
}

// Is the process gone whose file this is? Then the system keeps no lock for it any more.
bool is_abandoned(int folder, const char* part) {
  const int descriptor = ::openat(folder, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status {};
  const bool abandoned = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                         ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return abandoned;
}

// Removes parts of this path that a killed process left. A process looks at so many names at most: who writes
// thousands of files into one folder would look through it as often.
void remove_abandoned(const std::string& path) {
  static std::atomic<std::int64_t> names_left = 100'000;
  if (names_left <= 0) return;
  const std::filesystem::path whole(path);
  const std::string name = whole.filename();
  DIR* const folder = ::opendir(whole.has_parent_path() ? whole.parent_path().c_str() : ".");
  if (folder == nullptr) return;
  const int number = ::dirfd(folder);
  while (const dirent* entry = ::readdir(folder)) {
    --names_left;
    if (is_part_of(entry->d_name, name) && is_abandoned(number, entry->d_name)) {
      ::unlinkat(number, entry->d_name, 0);
    }
  }
  ::closedir(folder);
}

// So that others see that somebody writes it. False: one of them has just removed it. Where the file system
// knows no locks, nobody looks.
bool claim(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

void on_signal(int number) {
  remove_all_parts();
  // Its default again, by SA_RESETHAND; delivered when this returns.
  (void)::raise(number);
}

}  // namespace

PartFile::PartFile(std::string path, Special special) : path_(std::move(path)) {
  const int given = special == Special::kWrite ? named_descriptor(path_) : -1;
  struct stat status {};
  const bool there = ::stat(path_.c_str(), &status) == 0;
  if (given >= 0) {
    // What else is printed there must not be overwritten, so the place in it is shared.
    descriptor_ = ::fcntl(given, F_DUPFD_CLOEXEC, 0);
  } else if (there && S_ISDIR(status.st_mode)) {
    fail(EISDIR);
  } else if (there && S_ISBLK(status.st_mode)) {
    throw InputError(SourceLocation{.file = path_}, "can't write the file: it is a disk");
  } else if (there && !S_ISREG(status.st_mode) && special == Special::kWrite) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    create_part();
  }
  if (descriptor_ < 0) fail(errno);
}

PartFile::PartFile(std::string path, PartSlot* slot) : path_(std::move(path)), slot_(slot) {
  descriptor_ = ::open(slot->part.data(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0) {
    const int error = errno;
    remove_and_give_back(slot);
    fail(error);
  }
}

PartFile PartFile::go_on(std::string path) {
  PartSlot* slot = nullptr;
  {
    const std::lock_guard lock(mutex);
    slot = find(path);
    if (slot != nullptr && !std::exchange(slot->left, false)) slot = nullptr;
  }
  if (slot == nullptr) return PartFile(std::move(path), Special::kReplace);
  return PartFile(std::move(path), slot);
}

void PartFile::create_part() {
  note_ = note_output(path_);
  remove_abandoned(path_);
  int error = 0;
  do {
    const std::string part = part_name(path_);
    if (part.empty() || part.size() >= PATH_MAX) {
      error = part.empty() ? errno : ENAMETOOLONG;
      break;
    }
    slot_ = take_slot(path_);
    std::memcpy(slot_->part.data(), part.c_str(), part.size() + 1);
    slot_->to_be_removed = true;  // before it is there
    descriptor_ = ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ >= 0 && claim(descriptor_)) return;
    error = descriptor_ >= 0 ? EEXIST : errno;
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    give_back(std::exchange(slot_, nullptr));
  } while (error == EEXIST);
  end_output(note_);
  fail(error);
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      slot_(std::exchange(other.slot_, nullptr)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      note_(std::exchange(other.note_, {})) {}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (slot_ != nullptr) remove_and_give_back(slot_);
  end_output(note_);
}

std::string PartFile::part() const { return slot_ == nullptr ? "" : slot_->part.data(); }

void PartFile::close_descriptor() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) fail(errno);
}

void PartFile::commit() {
  close_descriptor();
  if (slot_ == nullptr) return;
  PartSlot* const slot = std::exchange(slot_, nullptr);
  if (slot->to_be_removed && std::rename(slot->part.data(), path_.c_str()) != 0) {
    const int error = errno;
    remove_and_give_back(slot);
    fail(error);
  }
  give_back(slot);
}

void PartFile::leave() {
  close_descriptor();
  const std::lock_guard lock(mutex);
  if (slot_ != nullptr) std::exchange(slot_, nullptr)->left = true;
}

void PartFile::fail(int error) const {
  throw InputError(SourceLocation{.file = path_},
                   std::string("can't write the file: ") + std::strerror(error));
}

// Without a name of its own: it is the part of nothing.
RemovedAtEnd::RemovedAtEnd(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  slot_ = take_slot("");
  std::memcpy(slot_->part.data(), path.c_str(), path.size() + 1);
  slot_->to_be_removed = true;
}

RemovedAtEnd::~RemovedAtEnd() {
  if (slot_ != nullptr) give_back(slot_);
}

bool name_part(const std::string& path) {
  const std::lock_guard lock(mutex);
  PartSlot* const slot = find(path);
  if (slot == nullptr || !slot->to_be_removed) return false;
  if (std::rename(slot->part.data(), path.c_str()) != 0) {
    throw InputError(SourceLocation{.file = path},
                     std::string("can't write the file: ") + std::strerror(errno));
  }
  slot->to_be_removed = false;
  return true;
}

void remove_part(const std::string& path) noexcept {
  PartSlot* slot = nullptr;
  {
    const std::lock_guard lock(mutex);
    slot = find(path);
    if (slot != nullptr && !std::exchange(slot->left, false)) slot = nullptr;
  }
  if (slot != nullptr) remove_and_give_back(slot);
}

bool is_part_of(const std::string& part, const std::string& name) {
  const std::string head = "." + name.substr(0, kMostOfName) + ".";
  return part.size() == head.size() + kRandomDigits + kEnding.size() && part.starts_with(head) &&
         part.ends_with(kEnding) &&
         part.find_first_not_of("0123456789abcdef", head.size()) == head.size() + kRandomDigits;
}

void remove_all_parts() noexcept {
  const int error = errno;
  for (const PartSlot* slot = slots; slot != nullptr; slot = slot->next) {
    if (slot->to_be_removed) ::unlink(slot->part.data());
  }
  errno = error;
}

void remove_parts_on_signals() {
  for (const int number : kSignals) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace weft
