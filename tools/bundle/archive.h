// Archives of files, tar compressed by Zstandard, through libarchive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/results/output_file.h"

struct archive;

namespace weft::bundle {

// Written in the order of the calls. The same files give the same bytes: owners and times are left out.
// Every member throws InputError, with the path and the reason, if the archive can't be written.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(const std::string& path);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void add(const std::string& name, std::string_view contents);
  // A regular file as it is now. Throws InputError if it can't be read, or has not `bytes` bytes.
  void add_file(const std::string& name, const std::string& path, std::uint64_t bytes);
  // The end: from now on the archive has its name.
  void close();

 private:
  void begin_entry(const std::string& name, std::uint64_t bytes);
  void write(std::string_view bytes);
  [[noreturn]] void fail() const;

  const std::string path_;
  results::OutputFile file_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::exception_ptr error_;  // of file_, which libarchive can't pass on
};

// Read from front to back. Every member throws InputError, with the path and the reason, if the archive can't
// be read, or holds anything but regular files with plain names ("a/b": neither absolute nor with "..").
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path);

  // The name of the next file; none: there is none.
  std::optional<std::string> next();
  // What it holds, of at most so many bytes.
  std::string contents(std::uint64_t most_bytes);
  // Writes it to a new file, and returns its SHA-256. It must have exactly so many bytes.
  std::string extract(const std::string& path, std::uint64_t bytes);

 private:
  template <typename Take>
  std::uint64_t read(std::uint64_t most_bytes, Take&& take);
  [[noreturn]] void fail(const std::string& reason) const;

  const std::string path_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::string name_;
};

}  // namespace weft::bundle
