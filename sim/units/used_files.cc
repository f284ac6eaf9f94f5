#include "sim/units/used_files.h"

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "sim/units/input_error.h"

namespace weft {
namespace {

using Identity = std::pair<dev_t, ino_t>;

// A process has one of these, which all of its parts share; readers may be threads.
struct Used {
  std::mutex mutex;
  bool keeps = false;
  bool foreign = false;  // see ForeignPaths
  std::string foreign_folder, foreign_read;
  std::set<Identity> read;
  std::multiset<Identity> written;
};
Used& used() {
  static Used all;
  return all;
}

[[noreturn]] void refuse(const std::string& path) {
  throw InputError(SourceLocation{.file = path},
                   "this file is read and would be written too, and so be lost; choose another output");
}

// REQUIRES: the mutex is held.
void check_foreign(const std::string& path) {
  namespace fs = std::filesystem;
  used().foreign_read = path;
  if (used().foreign_folder.empty()) return;
  std::error_code error;
  const std::string folder = fs::canonical(used().foreign_folder, error).string() + "/";
  const std::string file = error ? "" : fs::canonical(path, error).string();
  if (!error && file.starts_with(folder)) return;
  throw InputError(SourceLocation{.file = path},
                   "this file is outside of " + used().foreign_folder + ", and so it is not read");
}

}  // namespace

ForeignPaths::ForeignPaths(const std::string& folder) {
  const std::lock_guard lock(used().mutex);
  used().foreign = true;
  used().foreign_folder = folder;
  used().foreign_read.clear();
}

ForeignPaths::~ForeignPaths() {
  const std::lock_guard lock(used().mutex);
  used().foreign = false;
}

std::string ForeignPaths::read() const {
  const std::lock_guard lock(used().mutex);
  return used().foreign_read;
}

void keep_inputs_whole() {
  const std::lock_guard lock(used().mutex);
  used().keeps = true;
}

void note_input(const std::string& path, const struct stat& status) {
  const std::lock_guard lock(used().mutex);
  if (used().foreign) check_foreign(path);
  if (!S_ISREG(status.st_mode)) return;
  if (!used().keeps) return;
  const Identity file(status.st_dev, status.st_ino);
  if (used().written.contains(file)) refuse(path);
  used().read.insert(file);
}

OutputNote note_output(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const std::lock_guard lock(used().mutex);
  if (!used().keeps) return {};
  const Identity file(status.st_dev, status.st_ino);
  if (used().read.contains(file)) refuse(path);
  used().written.insert(file);
  return {file.first, file.second};
}

void end_output(const OutputNote& note) noexcept {
  if (note.inode == 0) return;
  const std::lock_guard lock(used().mutex);
  const auto found = used().written.find({note.device, note.inode});
  if (found != used().written.end()) used().written.erase(found);
}

int named_descriptor(const std::string& path) {
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + folder.size(), last, number);
    if (error == std::errc() && end == last && number >= 0) return number;
  }
  return -1;
}

}  // namespace weft
