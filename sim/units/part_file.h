// A file that appears under its name only when all of it is there.
#pragma once

#include <string>

#include "sim/units/used_files.h"

namespace weft {

namespace internal {
struct PartSlot;
}

// Until commit() it is a part beside its place, .NAME.RANDOM.part: created anew, through no link, with a name
// that nobody can foresee. A part that was not committed is removed by the destructor, or by
// remove_all_parts() where the process ends without one. Every member throws InputError, with the path and
// the system's reason, if the file can't be written. Different objects may be used by different threads.
class PartFile {
 public:
  // What to do where the name is that of a device, a FIFO, a socket or a descriptor (/dev/stdout): write to
  // it (of what shows as a disk, and of folders, an error), or replace it as any file.
  enum class Special : unsigned char { kWrite, kReplace };
  explicit PartFile(std::string path, Special special = Special::kWrite);
  // Goes on with the part of this path that leave() left, else the same as the first with kReplace.
  static PartFile go_on(std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;

  // -1 after the end.
  int descriptor() const { return descriptor_; }
  // Where the bytes are until then; "" where they are written directly.
  std::string part() const;

  // The end: from now on the file has its name.
  void commit();
  // The end of this object: the part stays for go_on().
  void leave();
  [[noreturn]] void fail(int error) const;

 private:
  explicit PartFile(std::string path, internal::PartSlot* slot);
  void create_part();
  void close_descriptor();

  std::string path_;
  internal::PartSlot* slot_ = nullptr;  // none: written directly
  int descriptor_ = -1;
  OutputNote note_;
};

// A file that is to go too where the process ends suddenly, as parts do.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(const std::string& path);
  ~RemovedAtEnd();
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;

 private:
  internal::PartSlot* slot_ = nullptr;
};

// Gives the part of this path its name now, while it is still being written. False: there is none. Throws
// InputError if it can't.
bool name_part(const std::string& path);
// Removes the part of this path that leave() left, if there is one.
void remove_part(const std::string& path) noexcept;
// Is this the name of a part of a file of that name, perhaps one that another process left?
bool is_part_of(const std::string& part, const std::string& name);

// Removes all parts that have no name yet. For handlers of signals, and other sudden ends.
void remove_all_parts() noexcept;
// From now on signals that end the process (SIGINT, SIGTERM, SIGHUP and the like), where they do so by
// default, remove all parts first. To be called at the beginning of a program.
void remove_parts_on_signals();

}  // namespace weft
