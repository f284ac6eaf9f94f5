#include "sim/units/input_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "sim/units/byte_order_mark.h"
#include "sim/units/input_error.h"
#include "sim/units/used_files.h"

namespace weft {
namespace {

// "16 MiB", or bytes.
std::string size_text(std::uint64_t bytes) {
  for (const auto& [unit, shift] : {std::pair("GiB", 30), std::pair("MiB", 20), std::pair("KiB", 10)}) {
    if (bytes >> shift << shift == bytes && bytes >> shift > 0) {
      return std::to_string(bytes >> shift) + " " + unit;
    }
  }
  return std::to_string(bytes) + " bytes";
}

// A pipe without a name: what a shell makes for `a | b` and `<(a)`.
bool is_anonymous(int descriptor) {
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

constexpr const char* kNamedPipe =
    "it is a FIFO, which may have no writer; give a file, /dev/stdin or a shell's <(command)";

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // Without waiting for the writer of a FIFO.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    const int error = errno;
    struct stat status {};
    const bool socket = error == ENXIO && ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
    const int given = named_descriptor(path);
    if (socket && given >= 0) {
      take(::fcntl(given, F_DUPFD_CLOEXEC, 0));
      return;
    }
    fail(socket ? "it is a socket" : std::strerror(error));
  }
  take(descriptor);
}

void InputFile::take(int descriptor) {
  descriptor_ = descriptor;
  struct stat status {};
  const bool known = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
  const mode_t mode = status.st_mode;
  const char* const wrong = !known                           ? std::strerror(errno)
                            : S_ISDIR(mode)                  ? "it is a folder"
                            : S_ISCHR(mode) || S_ISBLK(mode) ? "it is a device"
                            : S_ISFIFO(mode) && !is_anonymous(descriptor) && named_descriptor(path_) < 0
                                ? kNamedPipe
                                : nullptr;
  try {
    if (wrong != nullptr) fail(wrong);
    note_input(path_, status);
  } catch (...) {
    if (descriptor >= 0) ::close(descriptor);
    throw;
  }
  is_pipe_ = !S_ISREG(mode);
  if (!is_pipe_) size_ = static_cast<std::uint64_t>(status.st_size);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int InputFile::release() { return std::exchange(descriptor_, -1); }

std::string InputFile::read_all(std::uint64_t most) const {
  const std::string too_long = "it is longer than " + size_text(most) +
                               (is_pipe_ ? ", the most that is read of a pipe; give a file" : "");
  if (size_ > most) fail(too_long);
  std::string text;
  // One more byte than there should be, so that its end is seen.
  for (std::size_t used = 0, room = size_ + 1;; room = std::max<std::size_t>(2 * used, 1 << 16)) {
    text.resize(std::max(room, used + 1));
    const ssize_t got = ::read(descriptor_, text.data() + used, text.size() - used);
    if (got < 0 && errno != EINTR) fail(std::strerror(errno));
    used += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (used > most) fail(too_long);
    if (got != 0) continue;
    text.resize(used);
    return text;
  }
}

void InputFile::fail(const std::string& why) const {
  throw InputError(SourceLocation{.file = path_}, "can't read the file: " + why);
}

// Without a byte order mark.
std::string read_input(const std::string& path, std::uint64_t most) {
  std::string text = InputFile(path).read_all(most);
  text.erase(0, size_of_mark(text));
  return text;
}

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  auto next = std::filesystem::directory_iterator(folder, error);
  for (; !error && next != std::filesystem::directory_iterator(); next.increment(error)) {
    entries.push_back(next->path());
  }
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
    throw InputError(SourceLocation{.file = folder.string()}, "can't read the folder: " + error.message());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void check_input(const std::string& path) {
  if (!InputFile(path).is_pipe()) return;
  throw InputError(SourceLocation{.file = path}, "can't read the file: it is a pipe, and must be a file");
}

}  // namespace weft
