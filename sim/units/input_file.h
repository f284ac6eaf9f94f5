// The one way to open a file that somebody names as input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

// Most that is read of a pipe, whose end nobody knows, into memory.
inline constexpr std::uint64_t kMostOfPipe = std::uint64_t{4} << 30;

// A file opened for reading: a regular one, or a pipe that this process was given (/dev/stdin, or `<(zcat
// FILE)` of a shell). Whatever else has a name (folders, devices, FIFOs, sockets) is refused at once, for it
// may never end, or never begin.
class InputFile {
 public:
  // Throws InputError, "PATH: can't read the file: it is a folder".
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_pipe() const { return is_pipe_; }
  std::uint64_t size() const { return size_; }  // of a regular file; of a pipe 0
  // All that follows. Throws InputError if that fails, or if there are more than `most` bytes.
  std::string read_all(std::uint64_t most = kMostOfPipe) const;
  // The descriptor, which from now on is the caller's to close.
  int release();

 private:
  void take(int descriptor);
  [[noreturn]] void fail(const std::string& why) const;

  const std::string path_;
  int descriptor_ = -1;
  bool is_pipe_ = false;
  std::uint64_t size_ = 0;
};

// The content of a file. Throws InputError, also if it has more than `most` bytes.
std::string read_input(const std::string& path, std::uint64_t most = kMostOfPipe);

// What is in a folder, by name; nothing where there is no such folder. Throws InputError, with the system's
// reason, for one that can't be read.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

// For libraries that open files by their names: throws InputError unless this is a regular file that can be
// read.
void check_input(const std::string& path);

}  // namespace weft
