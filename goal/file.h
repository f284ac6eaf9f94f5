// Reading and writing whole files, for the graph formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/units/part_file.h"

namespace weft::goal {

// Writes all bytes to a descriptor, in as many steps as the system takes. False if that fails: errno says
// why.
bool write_whole(int descriptor, std::string_view bytes);

// A file's bytes, mapped for reading; a pipe is read into memory. Not thread-safe to move, safe to read.
class FileView {
 public:
  // Throws InputError that names the path if it can't be opened or read, or is no file (InputFile).
  explicit FileView(const std::string& path);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  // Without the byte order mark that editors on Windows put before texts; nothing else begins like it.
  std::string_view bytes() const { return {data_ + mark_, size_ - mark_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0, mark_ = 0;  // the mark counts with the size
  bool mapped_ = false;
  std::string copy_;
};

// A file being written. A regular file appears under its name only when commit() has succeeded, so that a
// failed run leaves no half-written file that looks whole; pipes, devices and /dev/stdout are written
// directly.
class FileWriter {
 public:
  // Throws InputError that names the path if it can't be created.
  explicit FileWriter(const std::string& path);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // Throws InputError (with the system's reason) if the bytes can't be written.
  void write(std::string_view bytes);
  std::size_t written() const { return written_; }
  void commit();

 private:
  void flush();
  void write_through(std::string_view bytes);

  PartFile file_;
  std::string buffer_;
  std::size_t written_ = 0;
};

}  // namespace weft::goal
