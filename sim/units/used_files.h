// Which files this process reads and writes, so that no output takes the place of an input.
#pragma once

#include <sys/types.h>

#include <string>

struct stat;

namespace weft {

// From now on an output that is one of the inputs (the same device and inode, by whatever name) is refused.
// For programs, to be called at their beginning: a test may well write what it has read.
void keep_inputs_whole();

// A file was opened for reading. Throws InputError if it is being written.
void note_input(const std::string& path, const struct stat& status);
// What has this name is about to be replaced, or written. Throws InputError if it was read. Returns what
// end_output() takes once it is done.
struct OutputNote {
  dev_t device = 0;
  ino_t inode = 0;  // 0: there was no such file
};
OutputNote note_output(const std::string& path);
void end_output(const OutputNote& note) noexcept;

// While one exists, files are read for what somebody else has written: nothing outside `folder` is opened
// ("": anything may be), whatever path leads there, and it is known whether anything was read at all, so that
// messages that quote it can be kept back. One at a time in a process, and threads that read share it.
class ForeignPaths {
 public:
  explicit ForeignPaths(const std::string& folder);
  ~ForeignPaths();
  ForeignPaths(const ForeignPaths&) = delete;
  ForeignPaths& operator=(const ForeignPaths&) = delete;

  // A file that was read, or was to be; "": none.
  std::string read() const;
};

// The number of the descriptor that a path stands for: 0 for /dev/stdin, 63 for /dev/fd/63 or
// /proc/self/fd/63; -1 for any other path.
int named_descriptor(const std::string& path);

}  // namespace weft
