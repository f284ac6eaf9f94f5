// A file on disk that a fuzzer fills: SQLite follows names to their ends, so one in memory will not do.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace weft::fuzz {

class DiskFile {
 public:
  explicit DiskFile(std::string_view name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("weft_fuzz_{}_{}.sqlite", name, ::getpid())) {}
  ~DiskFile() { std::filesystem::remove(path_); }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  void fill(std::string_view bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

}  // namespace weft::fuzz
