// The folder of one run's results: one run at a time writes there, and it never shows half of one run, or an
// earlier run's files, as if they were results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/part_file.h"

namespace weft::results {

// In a folder from begin() until all files are complete; says so to people, and how the run ended if it did
// not come that far.
inline constexpr const char* kIncompleteMarker = "INCOMPLETE";

// Writes how the run is about to end into the marker of the folder in use in this process: "interrupted by
// SIGTERM". For who is about to end the process without unwinding, like a watcher of signals; several reasons
// all stand there. May be called from any thread, at any time: nothing happens where no folder is in use, or
// where its run has not begun (an earlier run's results are there, untouched) or is complete. It waits for
// nothing but the creation, renaming or removal of the marker, and it never throws. Not for signal handlers.
void note_end_of_run(std::string_view reason) noexcept;

class ResultsFolder {
 public:
  // flock(2), unless a test has another.
  using Lock = int (*)(int descriptor, int operation);

  // Creates the folder and locks it against other runs until the end of this object or of the process; where
  // the file system knows no locks, it goes without. Of an earlier run nothing is changed, but parts of files
  // that it never completed are removed. Throws InputError if the folder can't be created or written in, if
  // another run is writing there, or if one of the files is an input of this one. `files` are all names that
  // a run may leave there, in the order in which begin() removes them. REQUIRES: no other of these objects
  // exists in this process.
  ResultsFolder(std::string path, std::vector<std::string> files, Lock lock = nullptr);
  // Leaves the marker if the run has begun and is not complete. A folder that was created here, and in which
  // nothing has begun, is removed.
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  // The run starts: places the marker, removes what earlier runs left, and gives files that grow as the run
  // goes on, which were parts until now, their names. Nothing if it has begun. Throws InputError, with path
  // and reason, if one of these steps fails.
  void begin();
  bool begun() const { return state_ != State::kWaiting; }
  // All files are closed and under their names: removes the marker. Throws InputError if it can't be.
  void complete();
  // Writes into the marker why the run ended.
  void failed(std::string_view reason) noexcept;

 private:
  friend void note_end_of_run(std::string_view reason) noexcept;
  enum class State : unsigned char { kWaiting, kBegun, kComplete };

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  void take_lock(Lock lock);
  void remove_parts() const;  // that earlier runs left
  void leave();               // lets the lock go, and removes a new folder in which nothing has begun
  void write_marker() const;

  const std::string path_, lock_path_;
  const std::vector<std::string> files_;
  bool created_ = false;
  int lock_ = -1;  // descriptor; -1: without
  std::optional<RemovedAtEnd> lock_removed_;
  // The rest is guarded by a mutex in the .cc file, which note_end_of_run() takes.
  State state_ = State::kWaiting;
  std::vector<std::string> reasons_;
};

}  // namespace weft::results
