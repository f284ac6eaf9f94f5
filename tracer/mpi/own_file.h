// A file of ours in somebody else's process, which may close our descriptor, give its number to a file of its
// own, change its folder or its user, or remove what we write.
#pragma once

#include <sys/types.h>

namespace weft::trace {

class OwnFile {
 public:
  // Makes the file at PATH, which must not exist, not even as a link. False, with errno, if that fails.
  bool create(const char* path);
  // A descriptor that is this file's at this moment: the one it was made with or, if the program has closed
  // that, one opened anew. -1, with errno, if the file can't be reached any more: then nothing may be written
  // to it. ENOENT: it was removed; ESTALE: another file is in its place.
  int descriptor();
  // Removes the file.
  void remove();
  // False, with errno, if the system had an error to tell. A file whose descriptor is lost is closed.
  bool close();

 private:
  bool is_ours(int descriptor) const;
  int reopen();

  char path_[4096] = "";  // absolute
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace weft::trace
